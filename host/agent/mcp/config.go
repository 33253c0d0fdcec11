package mcp

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"spillway/host/agent/tool"
	"spillway/host/profile"
)

// config is a row's, as mcp.schema.json has it.
type config struct {
	Command string   `json:"command"`
	Args    []string `json:"args"`
	// Env and Headers have nil for a secret that is not there.
	Env     map[string]*profile.Secret `json:"env"`
	URL     string                     `json:"url"`
	Headers map[string]*profile.Secret `json:"headers"`
	Start   milliseconds               `json:"startTimeoutMs"`
	Timeout milliseconds               `json:"timeoutMs"`
	Confirm string                     `json:"confirm"`
	Tools   map[string]known           `json:"tools"`
}

// known is what the profile knows of a tool better than its server.
type known struct {
	Effect   *tool.Effect `json:"effect"`
	Confirm  *bool        `json:"confirm"`
	Disabled bool         `json:"disabled"`
	Key      string       `json:"key"`
}

// The values of confirm.
const (
	confirmAlways = "always"
	confirmWrites = "writes"
	confirmNever  = "never"
)

// milliseconds is a time that JSON has as a number of them.
type milliseconds time.Duration

func (m *milliseconds) UnmarshalJSON(b []byte) error {
	var n int64
	if err := json.Unmarshal(b, &n); err != nil {
		return err
	}
	*m = milliseconds(time.Duration(n) * time.Millisecond)
	return nil
}

func parse(raw json.RawMessage) (config, error) {
	c := config{
		Start:   milliseconds(30 * time.Second),
		Timeout: milliseconds(2 * time.Minute),
		Confirm: confirmWrites,
	}
	if err := json.Unmarshal(raw, &c); err != nil {
		return c, err
	}
	if (c.Command == "") == (c.URL == "") {
		return c, errors.New("config has neither command nor url, or both")
	}
	if c.Start <= 0 || c.Timeout <= 0 {
		return c, errors.New("config has a time that is not positive")
	}
	if !slices.Contains([]string{confirmAlways, confirmWrites, confirmNever}, c.Confirm) {
		return c, fmt.Errorf("config has confirm %q", c.Confirm)
	}
	return c, nil
}

// asks reports whether a person is asked about calls of a tool.
func (c *config) asks(k known, e tool.Effect) bool {
	if k.Confirm != nil {
		return *k.Confirm
	}
	return c.Confirm == confirmAlways || c.Confirm == confirmWrites && e != tool.ReadOnly
}

// minSecret is the length from which a value is a secret: shorter ones, such as
// "1", stand in every text.
const minSecret = 8

// redactor takes the row's secrets out of a text.
func (c *config) redactor() *strings.Replacer {
	var secrets []string
	for _, values := range []map[string]*profile.Secret{c.Env, c.Headers} {
		for _, v := range values {
			if v != nil {
				// A header's secret is often its last word: "Bearer ...".
				secrets = append(append(secrets, v.Reveal()), strings.Fields(v.Reveal())...)
			}
		}
	}
	secrets = slices.DeleteFunc(secrets, func(s string) bool { return len(s) < minSecret })
	// Of two that begin alike the longer goes first, else its end would stay.
	slices.SortFunc(secrets, func(a, b string) int { return len(b) - len(a) })
	pairs := make([]string, 0, 2*len(secrets))
	for _, s := range secrets {
		pairs = append(pairs, s, profile.Secret(s).String())
	}
	return strings.NewReplacer(pairs...)
}
