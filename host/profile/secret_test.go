package profile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"
)

func TestSecretIsNeverShown(t *testing.T) {
	const text = "sk-ant-0123456789"
	s := Secret(text)
	type holder struct {
		Key  Secret
		Ptr  *Secret
		List []Secret
	}
	h := holder{s, &s, []Secret{s}}
	var out bytes.Buffer
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%T is %v"} {
		if strings.HasPrefix(verb, "%T") {
			fmt.Fprintf(&out, verb, s, s)
			continue
		}
		fmt.Fprintf(&out, verb+" "+verb+" "+verb+"\n", s, h.List, map[string]Secret{"k": s})
		fmt.Fprintf(&out, verb+"\n", h)
	}
	fmt.Fprintln(&out, s, h, s.String(), fmt.Errorf("key %v", s))
	for _, handler := range []slog.Handler{slog.NewTextHandler(&out, nil), slog.NewJSONHandler(&out, nil)} {
		slog.New(handler).Info("call", "key", s, "all", h)
	}
	if err := json.NewEncoder(&out).Encode(h); err != nil {
		t.Fatal(err)
	}
	y, err := yaml.Dump(h)
	if err != nil {
		t.Fatal(err)
	}
	out.Write(y)
	for _, leak := range []string{text, "0123456789", fmt.Sprintf("%x", text), fmt.Sprintf("%X", text), "115 107 45"} {
		if strings.Contains(out.String(), leak) {
			t.Errorf("%q leaks in:\n%s", leak, out.String())
		}
	}
	if !strings.Contains(out.String(), "[redacted]") {
		t.Errorf("nothing says [redacted] in:\n%s", out.String())
	}
	if s.Reveal() != text {
		t.Errorf("Reveal: got %q, want %q", s.Reveal(), text)
	}
}

func TestSecretUnmarshals(t *testing.T) {
	var v struct{ Key Secret }
	if err := json.Unmarshal([]byte(`{"Key":"abc"}`), &v); err != nil || v.Key.Reveal() != "abc" {
		t.Errorf("got %q, %v, want abc", v.Key.Reveal(), err)
	}
}

func TestFingerprint(t *testing.T) {
	if got, want := Secret("abc").Fingerprint(), "k_ba7816bf8f01"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
