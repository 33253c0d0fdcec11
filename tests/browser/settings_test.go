package browser

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"spillway/host/profile"
	"spillway/host/sim"
	"spillway/tests/internal/caller"
	"spillway/tests/internal/rig"
)

// written is a patch as a person leaves it.
const written = `# mine, do not touch

- id: failover # the failover plugin
  config:
    # in this order
    priority:
      - anthropic # the best
      - kimi-coding # the second
      - deepseek # the last
    failureThreshold: 3 # patient
# the end
`

// serveWritten runs a profile with the patch, whose first vendor is out of quota,
// and with a home patch if that is not "".
func serveWritten(t *testing.T, home string) *rig.Server {
	t.Helper()
	sims := rig.Vendors(t, sim.Vendor{Name: "anthropic", Script: "quota"},
		sim.Vendor{Name: "kimi-coding", Answer: sim.Answer{Text: "kimi speaks"}}, sim.Vendor{Name: "deepseek", Answer: sim.Answer{Text: "deepseek speaks"}})
	rows, keys := rig.Providers(sims, "anthropic", "openai")
	dir := rig.Profile(t, rows+"- {id: failover, name: failover}\n- {id: gateway, name: gateway}\n")
	put(t, filepath.Join(dir, profile.PatchFile), written)
	if home != "" {
		put(t, filepath.Join(filepath.Dir(filepath.Dir(dir)), profile.PatchFile), home)
	}
	return rig.ServeProfile(t, dir, keys...)
}

func put(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func patch(t *testing.T, s *rig.Server) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(s.Dir, profile.PatchFile))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// same checks what the profile's patch says.
func same(t *testing.T, s *rig.Server, want string) {
	t.Helper()
	if got := patch(t, s); got != want {
		t.Errorf("the patch is\n%s\nwant\n%s", got, want)
	}
}

// of is a part of a field of the failover card, as a selector.
func of(path, part string) string {
	return fmt.Sprintf(`section[aria-labelledby="settings-failover"] [data-path="%s"] %s`, path, part)
}

// saveButton is that of an entry's card.
func saveButton(entry string) string {
	return fmt.Sprintf(`section[aria-labelledby="settings-%s"] button[type=submit]`, entry)
}

// settings opens the view.
func settings(t *testing.T, s *rig.Server, l look) *tab {
	t.Helper()
	p := open(t, s, "#settings", l)
	p.wait(fmt.Sprintf(`document.querySelector('%s')`, saveButton("failover")))
	return p
}

func (p *tab) save(entry string) {
	p.t.Helper()
	p.do(chromedp.Click(chromedp.CSS(saveButton(entry))))
}

// retype types text in the place of what an input holds.
func (p *tab) retype(selector, text string) {
	p.t.Helper()
	eval[chromedp.Void](p, fmt.Sprintf(`(e => { e.focus(); e.select(); })(document.querySelector('%s'))`, selector))
	p.press(text)
}

// order is how the priority is shown.
func (p *tab) order() string {
	p.t.Helper()
	return eval[string](p, fmt.Sprintf(`[...document.querySelectorAll('%s')].map(e => e.textContent).join(' ')`, of("priority", "li .name")))
}

// answers asks for something and tells who answers in the place of the first.
func answers(t *testing.T, s *rig.Server) string {
	t.Helper()
	a := caller.Ask(t.Context(), http.DefaultClient, s.URL, caller.Chat, `{"model": "anthropic/claude", "stream": true, "messages": [{"role": "user", "content": "go"}]}`)
	if !a.Whole() {
		t.Fatalf("the answer is not whole: %+v", a)
	}
	return a.Text
}

// TestSettingsByPointer drags the last vendor to the second place and saves: the
// patch has it with its comment, all else in it stays, and the next request follows.
// Then it is undone.
func TestSettingsByPointer(t *testing.T) {
	s := serveWritten(t, "")
	if got := answers(t, s); got != "kimi speaks" {
		t.Fatalf("at first: got %q", got)
	}
	p := settings(t, s, look{})
	type place struct{ X, Y float64 }
	handle := func(n int) place {
		return eval[place](p, fmt.Sprintf(`(e => { e.scrollIntoView({block: 'center'}); const r = e.getBoundingClientRect(); return {X: r.x + r.width / 2, Y: r.y + r.height / 2}; })(document.querySelectorAll('%s')[%d])`, of("priority", ".handle"), n))
	}
	from := handle(2)
	to := eval[place](p, fmt.Sprintf(`(e => { const r = e.getBoundingClientRect(); return {X: r.x + 5, Y: r.y + 2}; })(document.querySelectorAll('%s')[1])`, of("priority", "li")))
	held := func(m *input.DispatchMouseEventParams) { m.Buttons, m.ClickCount = 1, 1 }
	p.do(chromedp.MouseEvent(input.DispatchMouseEventTypeMousePressed, from.X, from.Y, chromedp.ButtonLeft, held))
	for i := range 5 {
		y := from.Y + (to.Y-from.Y)*float64(i+1)/5
		p.do(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, from.X, y, chromedp.ButtonLeft, held))
	}
	p.shot("settings-dragging")
	p.do(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseReleased, from.X, to.Y, chromedp.ButtonLeft, held))
	if got := p.order(); got != "anthropic deepseek kimi-coding" {
		t.Fatalf("after dragging: %s", got)
	}
	same(t, s, written) // not before it is saved
	p.save("failover")
	p.wait(`document.querySelector('.toast')`)
	if said := eval[string](p, `document.querySelector('.toast').textContent`); !strings.Contains(said, "cordis.patch.yml, line 4") {
		t.Errorf("the page says %q, not what was written where", said)
	}
	p.shot("settings-saved")
	dragged := strings.Replace(written, "      - kimi-coding # the second\n      - deepseek # the last\n", "      - deepseek # the last\n      - kimi-coding # the second\n", 1)
	same(t, s, dragged)
	if got := answers(t, s); got != "deepseek speaks" {
		t.Errorf("after saving: got %q", got)
	}
	p.do(chromedp.Click(chromedp.CSS(`.toast .undo`)))
	p.wait(`[...document.querySelectorAll('.toast')].some(e => !e.querySelector('.undo'))`)
	same(t, s, written)
}

// TestSettingsByKeyboard does the same without a pointer, and changes numbers,
// a switch, and the list itself.
func TestSettingsByKeyboard(t *testing.T) {
	s := serveWritten(t, "")
	p := settings(t, s, look{width: phone})
	p.do(chromedp.Focus(chromedp.CSS(of("priority", `li[data-name="deepseek"] .handle`))))
	alt := chromedp.KeyModifiers(chromedp.ModifierAlt)
	p.do(chromedp.KeyEvent(kb.ArrowUp, alt), chromedp.KeyEvent(kb.ArrowUp, alt))
	if got := p.order(); got != "deepseek anthropic kimi-coding" {
		t.Fatalf("after Alt and arrows: %s", got)
	}
	if said := eval[string](p, `document.querySelector('main .hush').textContent`); said != "deepseek is now 1 of 3." {
		t.Errorf("it is announced as %q", said)
	}
	if focused := eval[string](p, `document.activeElement.closest('li').dataset.name`); focused != "deepseek" {
		t.Errorf("the focus is on %s", focused)
	}
	for _, press := range []string{`li[data-name="kimi-coding"] .up`, `li[data-name="anthropic"] .remove`} {
		p.do(chromedp.Focus(chromedp.CSS(of("priority", press))))
		p.press(" ")
	}
	p.do(chromedp.Focus(chromedp.CSS(of("priority", ".adder select"))))
	p.press("a")
	p.do(chromedp.SendKeys(chromedp.CSS(of("priority", ".adder input")), "claude-x"), chromedp.Focus(chromedp.CSS(of("priority", ".add"))))
	p.press(" ")
	if got := p.order(); got != "deepseek kimi-coding anthropic/claude-x" {
		t.Fatalf("after the list was changed: %s", got)
	}
	p.do(chromedp.SendKeys(chromedp.CSS(of("cooldownMs", "input")), "2"), chromedp.Focus(chromedp.CSS(of("crossModelFallback", "input"))))
	p.press(" ")
	p.axe()
	p.fits()
	p.shot("settings-typed-phone")
	p.save("failover")
	p.wait(`document.querySelector('.toast')`)
	p.axe()
	want := strings.Replace(written, `      - anthropic # the best
      - kimi-coding # the second
      - deepseek # the last
    failureThreshold: 3 # patient
`, `      - deepseek # the last
      - kimi-coding # the second
      - anthropic/claude-x
    failureThreshold: 3 # patient
    crossModelFallback: false
    cooldownMs: 120000
`, 1)
	same(t, s, want)
}

// TestSettingsInvalid types what the schema and what the plugin does not want: it
// is marked where it stands, nothing is written, and nothing typed is lost.
func TestSettingsInvalid(t *testing.T) {
	s := serveWritten(t, "")
	p := settings(t, s, look{language: "zh"})
	threshold := of("failureThreshold", "input")
	p.retype(threshold, "many")
	p.save("failover")
	p.wait(fmt.Sprintf(`document.querySelector('%s[aria-invalid]')`, threshold))
	p.retype(threshold, "0")
	p.save("failover")
	p.wait(fmt.Sprintf(`document.querySelector('%s').textContent.includes('太小')`, of("failureThreshold", ".trouble")))
	p.expect("422")
	described := eval[string](p, fmt.Sprintf(`document.querySelector('%s').getAttribute('aria-describedby').split(' ').map(id => document.getElementById(id).textContent).join(' ')`, threshold))
	if !strings.Contains(described, "至少 1") {
		t.Errorf("the field is described as %q", described)
	}
	if on := eval[bool](p, fmt.Sprintf(`document.activeElement === document.querySelector('%s')`, threshold)); !on {
		t.Error("the focus is not on what is wrong")
	}
	p.axe()
	p.shot("settings-invalid-zh")
	// What is typed outlives a visit to another view.
	p.do(chromedp.Click(chromedp.CSS(`nav a[href="#status"]`)), chromedp.Click(chromedp.CSS(`nav a[href="#settings"]`)))
	p.wait(fmt.Sprintf(`document.querySelector('%s')?.value === '0'`, threshold))
	p.retype(threshold, "5")
	p.save("failover")
	p.wait(`document.querySelector('.toast')`)
	same(t, s, strings.Replace(written, "failureThreshold: 3", "failureThreshold: 5", 1))
}

// TestSettingsConflict changes the file behind a page where something is typed: the save is
// refused, and the newer values are loaded around what was typed.
func TestSettingsConflict(t *testing.T) {
	s := serveWritten(t, "")
	p := settings(t, s, look{})
	threshold := of("failureThreshold", "input")
	// Before anything is typed the page follows the files.
	put(t, filepath.Join(s.Dir, profile.PatchFile), strings.Replace(written, "failureThreshold: 3", "failureThreshold: 6", 1))
	p.wait(fmt.Sprintf(`document.querySelector('%s').value === '6'`, threshold))
	p.retype(threshold, "7")
	theirs := strings.Replace(written, "failureThreshold: 3 # patient", "cooldownMs: 60000 # theirs\n    failureThreshold: 4", 1)
	put(t, filepath.Join(s.Dir, profile.PatchFile), theirs)
	p.save("failover")
	p.wait(`document.querySelector('.newer')`)
	p.expect("412")
	same(t, s, theirs)
	p.axe()
	p.shot("settings-conflict")
	p.do(chromedp.Click(chromedp.CSS(`.newer`)))
	p.wait(fmt.Sprintf(`document.querySelector('%s').value === '1'`, of("cooldownMs", "input")))
	if got := eval[string](p, fmt.Sprintf(`document.querySelector('%s').value`, threshold)); got != "7" {
		t.Errorf("what was typed is now %q", got)
	}
	p.save("failover")
	p.wait(`document.querySelector('.toast')`)
	same(t, s, strings.Replace(theirs, "failureThreshold: 4", "failureThreshold: 7", 1))
}

// TestSettingsOverridden: what the home patch decides cannot be saved, and the page
// says where it is decided. Reset takes back what the patch says.
func TestSettingsOverridden(t *testing.T) {
	s := serveWritten(t, "- id: failover\n  config: {failureThreshold: 9}\n")
	p := settings(t, s, look{})
	threshold := of("failureThreshold", "input")
	p.retype(threshold, "7")
	p.save("failover")
	p.wait(`document.querySelector('.notes .note')`)
	p.expect("409")
	if said := eval[string](p, `document.querySelector('.notes').textContent`); !strings.Contains(said, "home patch") || !strings.Contains(said, "cordis.patch.yml:2") {
		t.Errorf("the page says %q", said)
	}
	p.axe()
	p.shot("settings-overridden")
	same(t, s, written)
}
