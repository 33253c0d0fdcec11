package provider

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"spillway/host/dialect"
)

// maxModels bounds a vendor's model list.
const maxModels = 4096

// StatusError is a vendor's refusal to list its models.
type StatusError struct {
	Provider string
	Status   int
}

func (e *StatusError) Error() string {
	return fmt.Sprintf("provider %q: model list: status %d", e.Provider, e.Status)
}

// Models fetches a provider's model list, in the order the vendor gives it, with
// the key of a fingerprint, "" for its first. A vendor that refuses is a
// [*StatusError].
func (s *Set) Models(ctx context.Context, name, key string) ([]string, error) {
	p := s.byName[name]
	if p == nil {
		return nil, fmt.Errorf("no provider %q", name)
	}
	if p.passes() {
		return nil, fmt.Errorf("provider %q: model list: there is no credential without a client", name)
	}
	d, _ := dialect.ByName(p.prefer)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.bases[p.prefer]+"/models", nil)
	if err != nil {
		return nil, err
	}
	credential, _ := p.credential(key, nil)
	p.header(req.Header, nil, d, credential, false)
	resp, err := p.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, &StatusError{Provider: name, Status: resp.StatusCode}
	}
	var list struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxError)).Decode(&list); err != nil {
		return nil, fmt.Errorf("provider %q: model list: %w", name, err)
	}
	var ids []string
	for _, m := range list.Data[:min(len(list.Data), maxModels)] {
		if m.ID != "" {
			ids = append(ids, m.ID)
		}
	}
	return ids, nil
}
