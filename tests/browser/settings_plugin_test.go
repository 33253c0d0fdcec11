package browser

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/google/go-cmp/cmp"

	"spillway/host/profile"
	"spillway/host/sim"
	"spillway/tests/internal/caller"
	"spillway/tests/internal/rig"
)

// TestSettingsOfAnyPlugin changes a setting of each kind of a plugin that the page
// knows nothing of. What is not on the page stays, a secret is neither shown nor
// written, and what only the plugin can refuse is marked like anything else.
func TestSettingsOfAnyPlugin(t *testing.T) {
	const key, patched = "the-key-of-dials", `- id: dials
  config:
    place: here # not on the page
    apiKey: !env DIALS_KEY # hidden
    words: [one,  "two"] # in order
`
	sims := rig.Vendors(t, sim.Vendor{Name: "deepseek"})
	rows, env := rig.Providers(sims, "openai")
	dir := rig.Profile(t, rows+"- {id: dials, name: dials}\n")
	put(t, filepath.Join(dir, profile.PatchFile), patched)
	if err := os.Mkdir(filepath.Join(dir, profile.PluginsDir), 0o700); err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(filepath.Join(rig.Plugins(t), "..", "dials"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, profile.PluginsDir, "dials"), program, 0o700); err != nil {
		t.Fatal(err)
	}
	s := rig.ServeProfile(t, dir, append(env, "DIALS_KEY="+key)...)

	p := open(t, s, "#settings", look{width: phone})
	at := func(path, part string) string { return fmt.Sprintf(`[data-path="%s"] %s`, path, part) }
	p.wait(fmt.Sprintf(`document.querySelector('%s')?.textContent === 'set'`, at("apiKey", ".pill")))
	if html := eval[string](p, `document.documentElement.outerHTML`); strings.Contains(html, key) || strings.Contains(html, "DIALS_KEY") {
		t.Error("the page holds the secret, or where it is")
	}
	p.retype(at("mark", "input"), "forbidden")
	p.save("dials")
	p.wait(fmt.Sprintf(`document.querySelector('%s').textContent.includes('not on a day like this')`, at("mark", ".trouble")))
	p.expect("422")
	if got := patch(t, s); got != patched {
		t.Fatalf("refused, and the patch is\n%s", got)
	}

	p.retype(at("mark", "input"), "it's: #1")
	p.do(chromedp.Focus(chromedp.CSS(at("style", "select"))))
	p.press("b")
	p.do(chromedp.Focus(chromedp.CSS(at("loud", "input"))))
	p.press(" ")
	p.retype(at("every", "input"), "3")
	p.retype(at("pauseMs", "input"), "1.5")
	p.retype(at("words", ".adder input"), "three"+kb.Enter)
	p.do(chromedp.Focus(chromedp.CSS(at("words", `li[data-name="three"] .up`))))
	p.press(" ")
	p.retype(at("rules", "textarea"), `[{"a": 1}`)
	p.do(chromedp.Click(chromedp.CSS("summary")))
	p.retype(at("deep.share", "input"), "0.5")
	p.save("dials")
	p.wait(fmt.Sprintf(`document.querySelector('%s').textContent.includes('not JSON')`, at("rules", ".trouble")))
	p.axe()
	p.fits()
	p.shot("settings-dials-phone")
	p.retype(at("rules", "textarea"), `[{"a": 1}]`)
	p.save("dials")
	p.wait(`document.querySelector('.toast')`)

	want := strings.Replace(patched, `[one,  "two"]`, `[one, three, "two"]`, 1) + `    mark: "it's: #1"
    style: bold
    loud: false
    every: 3
    pauseMs: 1500
    rules:
      - a: 1
    deep:
      share: 0.5
`
	if diff := cmp.Diff(want, patch(t, s)); diff != "" {
		t.Errorf("patch (-want +got):\n%s", diff)
	}
	a := caller.Ask(t.Context(), http.DefaultClient, s.URL, caller.Chat, `{"model": "deepseek/dials", "stream": true, "messages": [{"role": "user", "content": "go"}]}`)
	var got map[string]any
	if err := json.Unmarshal([]byte(a.Text), &got); err != nil {
		t.Fatalf("%v in %+v", err, a)
	}
	if diff := cmp.Diff(map[string]any{
		"place": "here", "apiKey": key, "mark": "it's: #1", "style": "bold", "loud": false, "every": 3.0, "pauseMs": 1500.0,
		"words": []any{"one", "three", "two"}, "rules": []any{map[string]any{"a": 1.0}}, "deep": map[string]any{"share": 0.5},
	}, got); diff != "" {
		t.Errorf("the plugin's settings (-want +got):\n%s", diff)
	}
}
