package provider

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"

	"go.yaml.in/yaml/v4"

	"spillway/host/dialect"
	"spillway/sdk"
)

// Vendor is what vendors.yml says of one vendor, and what a profile's entry may
// override.
type Vendor struct {
	Endpoints map[string]string `yaml:"endpoints" json:"endpoints,omitempty"` // base URL by dialect
	Auth      string            `yaml:"auth" json:"auth,omitempty"`           // "x-api-key", "bearer" or "passthrough"
	// Credentials are what the vendor's own credentials begin with: by them a
	// client's is told from another vendor's.
	Credentials []string `yaml:"credentials" json:"credentials,omitempty"`
	KeyEnv      []string `yaml:"key_env" json:"key_env,omitempty"`
	Pass        []string `yaml:"pass" json:"pass,omitempty"` // client headers it understands
	// CountTokens: its Messages endpoint has count_tokens.
	CountTokens bool    `yaml:"count_tokens" json:"count_tokens,omitempty"`
	Models      []Model `yaml:"models" json:"models,omitempty"`
	Egress      string  `yaml:"egress" json:"egress,omitempty"` // where prompts go, for contracts
	// ReadOnlyTools are the tools among those that it runs itself which change
	// nothing, by the beginnings of their types: web_search is web_search_20250305
	// too. Nil: those of readOnlyTools.
	ReadOnlyTools []string       `yaml:"read_only_tools" json:"read_only_tools,omitempty"`
	GenAI         string         `yaml:"gen_ai" json:"gen_ai,omitempty"` // what OpenTelemetry calls it, if not by our name
	Quirks        dialect.Quirks `yaml:"quirks" json:"quirks,omitzero"`
}

// Model is one model of a vendor.
type Model struct {
	ID           string   `yaml:"id" json:"id"`
	Context      int      `yaml:"context" json:"context,omitempty"`
	MaxOutput    int      `yaml:"max_output" json:"max_output,omitempty"`
	Capabilities []string `yaml:"capabilities" json:"capabilities,omitempty"`
}

// ParseVendors reads vendors.yml strictly.
func ParseVendors(data []byte) (map[string]Vendor, error) {
	d := yaml.NewDecoder(bytes.NewReader(data))
	d.KnownFields(true)
	vendors := map[string]Vendor{}
	if err := d.Decode(&vendors); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("vendors: %w", err)
	}
	for name, v := range vendors {
		if err := v.check(); err != nil {
			return nil, fmt.Errorf("vendors: %s: %w", name, err)
		}
	}
	return vendors, nil
}

func (v Vendor) check() error {
	for name, base := range v.Endpoints {
		if _, ok := dialect.ByName(name); !ok {
			return fmt.Errorf("endpoints: unknown dialect %q (allowed: anthropic, openai, responses)", name)
		}
		u, err := url.Parse(base)
		if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
			return fmt.Errorf("endpoints.%s: %q is no http or https URL", name, base)
		}
		if u.User != nil {
			return fmt.Errorf("endpoints.%s: a URL must not carry credentials", name)
		}
	}
	if !slices.Contains([]string{"", authBearer, authAPIKey, authPassthrough}, v.Auth) {
		return fmt.Errorf("auth: got %q (allowed: %s, %s, %s)", v.Auth, authAPIKey, authBearer, authPassthrough)
	}
	if v.Auth == authPassthrough && len(v.Credentials) == 0 {
		return errors.New("auth: passthrough needs to know the vendor's credentials: say in credentials what they begin with")
	}
	for _, c := range v.Credentials {
		if len(c) < shortestPrefix {
			return fmt.Errorf("credentials: %q: want %d characters at least", c, shortestPrefix)
		}
	}
	for _, h := range v.Pass {
		if slices.Contains(neverPassed, http.CanonicalHeaderKey(h)) {
			return fmt.Errorf("pass: header %q is never passed on", h)
		}
	}
	if n := v.Quirks.ToolIDLength; n < 0 || n > maxToolIDLength {
		return fmt.Errorf("quirks.tool_id_length: got %d (allowed: 0 to %d)", n, maxToolIDLength)
	}
	return nil
}

// maxToolIDLength is what a hash has letters and digits for.
const maxToolIDLength = 40

const (
	authAPIKey = "x-api-key"
	authBearer = "bearer"
	// authPassthrough sends the client's own credential, see passthrough.go.
	authPassthrough = "passthrough"
)

// neverPassed are headers that carry a credential or belong to one connection.
var neverPassed = []string{"Authorization", "X-Api-Key", "Cookie", "Host", "Connection", "Content-Length", "Transfer-Encoding"}

// paths are the dialects' resources below a base URL.
var paths = map[string]string{
	"anthropic": "/messages",
	"openai":    "/chat/completions",
	"responses": "/responses",
}

func (m Model) catalogue() sdk.Model {
	return sdk.Model{ID: m.ID, Context: m.Context, MaxOutput: m.MaxOutput, Capabilities: m.Capabilities}
}
