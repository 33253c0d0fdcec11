package sdk_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"spillway/sdk"
)

// TestCodes: every code has the class and the default scope that the failure
// semantics give it.
func TestCodes(t *testing.T) {
	tests := []struct {
		code  sdk.Code
		class sdk.Class
		scope sdk.Scope
	}{
		{sdk.CodeQuota, sdk.ClassDeterministic, sdk.ScopeRoute},
		{sdk.CodeAuth, sdk.ClassDeterministic, sdk.ScopeKey},
		{sdk.CodeInvalidCredential, sdk.ClassDeterministic, sdk.ScopeKey},
		{sdk.CodeModelUnavailable, sdk.ClassDeterministic, sdk.ScopeRoute},
		{sdk.CodeRateLimit, sdk.ClassTransient, sdk.ScopeRoute},
		{sdk.CodeOverloaded, sdk.ClassTransient, sdk.ScopeRoute},
		{sdk.CodeServer, sdk.ClassTransient, sdk.ScopeRoute},
		{sdk.CodeTimeout, sdk.ClassTransient, sdk.ScopeRoute},
		{sdk.CodeTransport, sdk.ClassTransient, sdk.ScopeRoute},
		{sdk.CodeEmptyResponse, sdk.ClassTransient, sdk.ScopeRoute},
		{sdk.CodeContextWindow, sdk.ClassCaller, sdk.ScopeNone},
		{sdk.CodePolicy, sdk.ClassCaller, sdk.ScopeNone},
		{sdk.CodeInvalidRequest, sdk.ClassCaller, sdk.ScopeNone},
		{sdk.CodeAborted, sdk.ClassCaller, sdk.ScopeNone},
		{sdk.CodeUnknownModel, sdk.ClassCaller, sdk.ScopeNone},
		{sdk.CodeNoAdapter, sdk.ClassCaller, sdk.ScopeNone},
		{sdk.CodeLocalNetwork, sdk.ClassLocal, sdk.ScopeNone},
		{sdk.CodePlugin, sdk.ClassLocal, sdk.ScopeNone},
	}
	var codes []sdk.Code
	for _, tt := range tests {
		codes = append(codes, tt.code)
		if !tt.code.Known() {
			t.Errorf("%s is not known", tt.code)
		}
		f := sdk.NewFailure(tt.code, "rule", "message")
		if f.Class() != tt.class || f.Scope != tt.scope {
			t.Errorf("%s: got %s, %s, want %s, %s", tt.code, f.Class(), f.Scope, tt.class, tt.scope)
		}
	}
	if d := cmp.Diff(codes, sdk.Codes()); d != "" {
		t.Errorf("Codes (-want +got):\n%s", d)
	}
	if d := cmp.Diff(declared(t, "Code"), sdk.Codes()); d != "" {
		t.Errorf("Codes and the constants (-constants +Codes):\n%s", d)
	}
}

// TestUnknownCode: a code from a newer peer lets another vendor be asked.
func TestUnknownCode(t *testing.T) {
	c := sdk.Code("FROM_THE_FUTURE")
	if c.Known() || c.Class() != sdk.ClassTransient || c.Scope() != sdk.ScopeRoute {
		t.Errorf("got known %t, %s, %s", c.Known(), c.Class(), c.Scope())
	}
}

// declared reads the constants of a type from the source.
func declared(t *testing.T, typ string) []sdk.Code {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "failure.go", nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var codes []sdk.Code
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if id, ok := spec.Type.(*ast.Ident); !ok || id.Name != typ {
			return false
		}
		value, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
		if err != nil {
			t.Fatal(err)
		}
		codes = append(codes, sdk.Code(value))
		return false
	})
	return codes
}

func TestUnreachable(t *testing.T) {
	for cause, want := range map[sdk.Cause]bool{
		sdk.CauseReset: false, sdk.CauseCut: false, "": false, "from the future": false,
		sdk.CauseRefused: true, sdk.CauseDNS: true, sdk.CauseNoRoute: true, sdk.CauseTLS: true,
	} {
		if got := cause.Unreachable(); got != want {
			t.Errorf("%q: got %t, want %t", cause, got, want)
		}
	}
}

func TestFailureError(t *testing.T) {
	tests := []struct {
		failure sdk.Failure
		want    string
	}{
		{sdk.Failure{Code: sdk.CodeServer}, "SERVER"},
		{sdk.Failure{Code: sdk.CodeServer, Status: 502}, "SERVER 502"},
		{sdk.Failure{Code: sdk.CodeTransport, Cause: sdk.CauseReset}, "TRANSPORT (reset)"},
		{sdk.Failure{Code: sdk.CodeTransport, Cause: sdk.CauseTLS, Status: 1, Message: "x"}, "TRANSPORT (tls) 1: x"},
		{sdk.Failure{Code: sdk.CodeQuota, Status: 429, Message: " out of\r\n\tcredit \n"}, "QUOTA 429: out of credit"},
	}
	for _, tt := range tests {
		if got := tt.failure.Error(); got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}

func TestClipMessage(t *testing.T) {
	pad := strings.Repeat("a", sdk.MaxMessage-1)
	tests := []struct{ name, in, want string }{
		{"empty", "", ""},
		{"one under", pad, pad},
		{"at the limit", pad + "b", pad + "b"},
		{"one over", pad + "bc", pad + "b"},
		{"a rune across the limit", pad + "é", pad},
		{"a long rune across the limit", pad[2:] + "日本", pad[2:] + "日"},
		{"a rune that just fits", pad[1:] + "é" + "x", pad[1:] + "é"},
		{"far over", strings.Repeat("日", sdk.MaxMessage), strings.Repeat("日", sdk.MaxMessage/3)},
	}
	for _, tt := range tests {
		got := sdk.ClipMessage(tt.in)
		if got != tt.want {
			t.Errorf("%s: got %d bytes ending in %q", tt.name, len(got), got[max(0, len(got)-8):])
		}
		if len(got) > sdk.MaxMessage || !utf8.ValidString(got) {
			t.Errorf("%s: %d bytes, valid %t", tt.name, len(got), utf8.ValidString(got))
		}
		if f := sdk.NewFailure(sdk.CodeServer, "", tt.in); f.Message != tt.want {
			t.Errorf("%s: NewFailure does not clip", tt.name)
		}
	}
}
