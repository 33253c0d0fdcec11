package browser

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"

	"spillway/tests/internal/rig"
)

// ask makes a streamed call and returns its request's id. header is "Name: value"
// lines.
func ask(t *testing.T, s *rig.Server, header ...string) (id string) {
	t.Helper()
	return askFor(t, s, "auto", header...)
}

// askFor is ask for a model.
func askFor(t *testing.T, s *rig.Server, model string, header ...string) (id string) {
	t.Helper()
	body := `{"model":"` + model + `","max_tokens":99,"stream":true,"messages":[{"role":"user","content":"What does a spillway do?"}]}`
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+"/v1/messages", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	for _, line := range header {
		name, value, _ := strings.Cut(line, ": ")
		req.Header.Set(name, value)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		t.Fatal(err)
	}
	return resp.Header.Get("X-Spillway-Request-Id")
}

// reported waits until the API tells that a target is paused.
func reported(t *testing.T, s *rig.Server, target string) {
	t.Helper()
	for t.Context().Err() == nil {
		resp, err := http.Get(s.URL + "/api/status")
		if err != nil {
			t.Fatal(err)
		}
		var v struct {
			View struct {
				Status struct {
					Plugins []struct {
						Targets []struct{ Target, State string }
					}
				}
			}
		}
		err = json.NewDecoder(resp.Body).Decode(&v)
		resp.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range v.View.Status.Plugins {
			for _, x := range p.Targets {
				if x.Target == target && x.State == "open" {
					return
				}
			}
		}
	}
}

// soon is the time in which the page shows what has been reported. A busy machine
// with the race detector takes less than a tenth of it.
const soon = time.Second

// TestCircuitOpens: a vendor runs out of quota while somebody looks, and the page
// shows it, and where requests go instead.
func TestCircuitOpens(t *testing.T) {
	s, _ := serve(t, map[string]string{"anthropic": "quota"})
	p := open(t, s, "#status", look{})
	p.wait(`document.querySelector('.step[data-vendor=anthropic].wet')`)
	ask(t, s)
	reported(t, s, "anthropic")
	since := time.Now()
	p.wait(`document.querySelector('.step[data-vendor=anthropic] .pill.bad') && document.querySelector('.step.wet').dataset.vendor === 'kimi-coding'`)
	if took := time.Since(since); took > soon {
		t.Errorf("the page shows it %s after it was reported, want %s", took, soon)
	} else {
		t.Logf("shown %s after it was reported", took)
	}
	text := eval[string](p, `document.querySelector('.step[data-vendor=anthropic]').innerText`)
	for _, want := range []string{"paused", "out of quota", "QUOTA"} {
		if !strings.Contains(text, want) {
			t.Errorf("the vendor's step says %q, want %q in it", text, want)
		}
	}
	// The countdown goes on without anything being sent.
	count := `document.querySelector('.step[data-vendor=anthropic] time.countdown').textContent`
	first := eval[string](p, count)
	p.wait(count + " !== '" + first + "'")
}

// TestDown: nobody is left, and the page says what clients get.
func TestDown(t *testing.T) {
	s, _ := serve(t, map[string]string{"anthropic": "quota", "kimi-coding": "ban", "deepseek": "quota"})
	ask(t, s)
	p := open(t, s, "#status", look{dark: true})
	p.wait(`document.querySelector('.sink') && document.querySelectorAll('.step .title .pill.bad').length === 3`)
	p.axe()
	p.shot("down-dark")
}

// TestOrderByKeyboard: a person disables a vendor and takes it back, with nothing
// but the keyboard.
func TestOrderByKeyboard(t *testing.T) {
	s, _ := serve(t, nil)
	p := open(t, s, "#status", look{})
	p.wait(`document.querySelector('.step')`)
	tabTo(p, `document.activeElement.dataset.key === 'orders kimi-coding'`)
	p.press(kb.Enter)
	p.wait(`document.querySelector('dialog[open]')?.contains(document.activeElement)`)
	p.axe()
	p.shot("order-wide")
	for range 20 { // the focus stays inside
		p.press(kb.Tab)
		if !eval[bool](p, `document.activeElement === document.body || document.querySelector('dialog').contains(document.activeElement)`) {
			t.Fatal("the focus left the dialog")
		}
	}
	tabTo(p, `document.activeElement.id === 'order-note'`)
	p.press("bill not paid")
	p.press(kb.Enter)
	p.wait(`document.querySelector('.step[data-vendor=kimi-coding] .pill.off') && document.activeElement.matches('.undo')`)
	if text := eval[string](p, `document.querySelector('.step[data-vendor=kimi-coding]').innerText`); !strings.Contains(text, "bill not paid") {
		t.Errorf("the note is missing: %q", text)
	}
	p.press(kb.Enter)
	p.wait(`document.querySelector('.step[data-vendor=kimi-coding] .title .pill.good') && document.activeElement.dataset.key === 'orders kimi-coding'`)
	p.press(kb.Enter)
	p.wait(`document.querySelector('dialog[open]')`)
	p.press(kb.Escape)
	p.wait(`!document.querySelector('dialog') && document.activeElement.dataset.key === 'orders kimi-coding'`)
}

// tabTo presses Tab until something is focused.
func tabTo(p *tab, there string) {
	p.t.Helper()
	for range 60 {
		if eval[bool](p, there) {
			return
		}
		p.press(kb.Tab)
	}
	p.t.Fatalf("%s: not reached by Tab", there)
}

// TestToken: a page without the token asks for it once.
func TestToken(t *testing.T) {
	s, _ := serve(t, nil, "SPILLWAY_TOKEN=letmein")
	p := open(t, s, "#status", look{})
	p.wait(`document.activeElement.id === 'token'`)
	p.axe()
	p.shot("login-wide")
	p.press("wrong" + kb.Enter)
	p.wait(`document.querySelector('[role=alert]:not([hidden])')`)
	p.press("letmein" + kb.Enter)
	p.wait(`document.querySelector('.step')`)
	p.expect("401")
	if shown := eval[string](p, `document.cookie`); shown != "" {
		t.Errorf("scripts can read the cookie: %q", shown)
	}
	req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, s.URL+"/api/status", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("without token or cookie: got %d", resp.StatusCode)
	}
}
