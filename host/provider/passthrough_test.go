package provider

import (
	"strings"
	"testing"

	"spillway/host/llm"
	"spillway/host/profile"
)

// TestOwn: a credential is a vendor's if it begins as its credentials do and no
// other vendor claims more of it.
func TestOwn(t *testing.T) {
	tests := []struct {
		name    string
		mine    []string
		foreign []string
		secrets []profile.Secret
		want    profile.Secret // "" for none
	}{
		{name: "mine", mine: []string{"sk-ant-"}, secrets: []profile.Secret{"sk-ant-1"}, want: "sk-ant-1"},
		{name: "the second", mine: []string{"sk-ant-"}, secrets: []profile.Secret{"sk-1", "sk-ant-1"}, want: "sk-ant-1"},
		{name: "another's", mine: []string{"sk-ant-"}, secrets: []profile.Secret{"sk-proj-1"}},
		{name: "in the middle", mine: []string{"sk-ant-"}, secrets: []profile.Secret{"x-sk-ant-1"}},
		{name: "shorter", mine: []string{"sk-ant-"}, secrets: []profile.Secret{"sk-ant"}},
		{name: "another vendor claims more", mine: []string{"sk-"}, foreign: []string{"sk-ant-"}, secrets: []profile.Secret{"sk-ant-1"}},
		{name: "another vendor claims less", mine: []string{"sk-ant-"}, foreign: []string{"sk-"}, secrets: []profile.Secret{"sk-ant-1"}, want: "sk-ant-1"},
		{name: "another vendor claims as much", mine: []string{"sk-"}, foreign: []string{"sk-"}, secrets: []profile.Secret{"sk-1"}},
		{name: "nothing came", mine: []string{"sk-ant-"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, err := New(Options{Name: "p", Foreign: tt.foreign, Vendor: Vendor{
				Auth: authPassthrough, Credentials: tt.mine, Endpoints: map[string]string{"anthropic": "http://localhost/v1"},
			}})
			if err != nil {
				t.Fatal(err)
			}
			var shown []llm.Credential
			for _, s := range tt.secrets {
				shown = append(shown, llm.Credential{Bearer: true, Secret: s})
			}
			got, print := p.credential("k_other", shown)
			if got.Secret.Reveal() != tt.want.Reveal() || (print == "") != (tt.want == "") {
				t.Errorf("got %q", got.Secret.Reveal())
			}
			if own := NewSet(p).Own(shown)["p"]; own != print {
				t.Errorf("own %q, sent %q", own, print)
			}
		})
	}
}

// TestPassthroughOptions: what cannot be told from other vendors' is refused.
func TestPassthroughOptions(t *testing.T) {
	ok := Vendor{Auth: authPassthrough, Credentials: []string{"sk-ant-"}, Endpoints: map[string]string{"anthropic": "http://localhost/v1"}}
	tests := []struct {
		name   string
		change func(*Options)
		want   string
	}{
		{"no beginnings", func(o *Options) { o.Vendor.Credentials = nil }, "needs to know the vendor's credentials"},
		{"a short one", func(o *Options) { o.Vendor.Credentials = []string{"sk"} }, "want 3 characters at least"},
		{"a key beside it", func(o *Options) { o.Keys = []profile.Secret{"k"} }, "leave key and keys out"},
	}
	for _, tt := range tests {
		o := Options{Name: "p", Vendor: ok}
		tt.change(&o)
		if _, err := New(o); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v", tt.name, err)
		}
	}
}
