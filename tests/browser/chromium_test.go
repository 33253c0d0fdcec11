package browser

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"spillway/host/state/statetest/machine"
	"spillway/tests/internal/rig"
)

// pageTime is more than anything takes on a page on a busy machine with the race
// detector.
const pageTime = time.Minute

func TestMain(m *testing.M) {
	code := m.Run()
	chromium.stop()
	rig.Remove()
	os.Exit(code)
}

// chromium is the one browser.
var chromium browser

type browser struct {
	once sync.Once
	ctx  context.Context
	end  []func()
	err  error
}

func (b *browser) start(t *testing.T) context.Context {
	t.Helper()
	machine.Need(t, "chromium fonts-noto-cjk", "chromium")
	b.once.Do(func() {
		dir, err := os.MkdirTemp("", "spillway-chromium-")
		if err != nil {
			b.err = err
			return
		}
		alloc, endAlloc := chromedp.NewExecAllocator(context.Background(),
			chromedp.ExecPath("chromium"), chromedp.NoFirstRun, chromedp.UserDataDir(dir), chromedp.WSURLReadTimeout(pageTime),
			chromedp.Flag("headless", true), chromedp.Flag("no-sandbox", true), chromedp.Flag("disable-gpu", true),
			chromedp.Flag("disable-quic", true), chromedp.Flag("disable-background-networking", true),
			chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true),
			chromedp.Flag("disable-dev-shm-usage", true), chromedp.Flag("hide-scrollbars", true), chromedp.Flag("lang", "en-US"))
		ctx, end := chromedp.NewContext(alloc)
		b.ctx, b.end = ctx, []func(){end, endAlloc, func() { os.RemoveAll(dir) }}
		b.err = chromedp.Do(ctx)
	})
	if b.err != nil {
		t.Fatal(b.err)
	}
	return b.ctx
}

func (b *browser) stop() {
	for _, end := range b.end {
		end()
	}
}

// tab is one page.
type tab struct {
	t   *testing.T
	ctx context.Context
	url string

	mu     sync.Mutex
	faults []string
}

// look is how a tab is opened.
type look struct {
	width    int  // default 1280
	dark     bool // the system's theme
	language string
}

// name is the look in the names of screenshots.
func (l look) name() string {
	name := "wide"
	if l.width == phone {
		name = "phone"
	}
	if l.dark {
		name += "-dark"
	}
	if l.language != "" {
		name += "-" + l.language
	}
	return name
}

// phone is the width of a narrow one.
const phone = 375

// open opens a page of the server at a hash such as "#status".
func open(t *testing.T, s *rig.Server, hash string, l look) *tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(chromium.start(t), chromedp.WithNewBrowserContext())
	p := &tab{t: t, ctx: ctx, url: s.URL + "/" + hash}
	t.Cleanup(func() {
		cancel()
		p.mu.Lock()
		defer p.mu.Unlock()
		for _, f := range p.faults {
			t.Errorf("the page: %s", f)
		}
	})
	if err := chromedp.Listen(ctx, p.hear); err != nil {
		t.Fatal(err)
	}
	scheme, width := "light", l.width
	if l.dark {
		scheme = "dark"
	}
	if width == 0 {
		width = 1280
	}
	tell(p, log.Enable, cdp.Empty{})
	tell(p, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
	})
	if l.language != "" {
		tell(p, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{
			Source: fmt.Sprintf("localStorage.setItem('spillway.language', %q)", l.language),
		})
	}
	p.do(chromedp.EmulateViewport(int64(width), 900), chromedp.Navigate(p.url))
	p.wait(`document.querySelector('main h1')`)
	return p
}

// tell gives the tab's browser a command.
func tell[P, R any](p *tab, c cdp.Command[P, R], params P) {
	p.t.Helper()
	p.do(func(ctx context.Context, t *chromedp.Target) (chromedp.Void, error) {
		_, err := cdp.Call(ctx, t, c, params)
		return chromedp.Void{}, err
	})
}

// hear collects what goes wrong in the page.
func (p *tab) hear(event any) {
	fault := ""
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		fault = e.ExceptionDetails.Text
		if x := e.ExceptionDetails.Exception; x != nil {
			fault += " " + x.Description
		}
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.ConsoleAPICalledTypeError || e.Type == runtime.ConsoleAPICalledTypeWarning {
			for _, a := range e.Args {
				fault += " " + string(a.Value) + a.Description
			}
		}
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError {
			fault = e.Entry.Text + " " + e.Entry.URL
		}
	}
	if fault != "" {
		p.mu.Lock()
		p.faults = append(p.faults, fault)
		p.mu.Unlock()
	}
}

// expect takes what went wrong so far, which the test wanted to, off the list.
func (p *tab) expect(part string) {
	p.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	kept := p.faults[:0]
	for _, f := range p.faults {
		if !strings.Contains(f, part) {
			kept = append(kept, f)
		}
	}
	p.faults = kept
}

func (p *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	run(p, chromedp.Steps(actions...))
}

// run does something on a page and returns what came of it.
func run[T any](p *tab, a chromedp.Action[T]) T {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, pageTime)
	defer cancel()
	v, err := chromedp.Run(ctx, a)
	if err != nil {
		p.t.Fatalf("%v\nthe page says:\n%s", err, p.text())
	}
	return v
}

// text is what the page says, for whoever looks why a test failed.
func (p *tab) text() string {
	ctx, cancel := context.WithTimeout(p.ctx, 5*time.Second)
	defer cancel()
	text, _ := chromedp.Run(ctx, chromedp.Evaluate[string](`document.body.innerText`))
	return text
}

// wait waits until a JavaScript expression is true. It looks at each frame that is
// drawn, in a way that the content security policy allows.
func (p *tab) wait(condition string) {
	p.t.Helper()
	look := fmt.Sprintf(`new Promise(done => {
		const look = () => (%s) ? done() : requestAnimationFrame(look);
		look();
	})`, condition)
	ctx, cancel := context.WithTimeout(p.ctx, pageTime)
	defer cancel()
	if _, err := chromedp.Run(ctx, chromedp.Evaluate[chromedp.Void](look, chromedp.EvalAwaitPromise)); err != nil {
		p.t.Fatalf("%s: never so: %v\nthe page says:\n%s", condition, err, p.text())
	}
}

// eval is the value of a JavaScript expression, which may be a promise.
func eval[T any](p *tab, expression string) T {
	p.t.Helper()
	return run(p, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
}

// press sends keys to whatever has the focus.
func (p *tab) press(keys string) {
	p.t.Helper()
	p.do(chromedp.KeyEvent(keys))
}

// shot keeps a picture of the whole page.
func (p *tab) shot(name string) {
	p.t.Helper()
	png := run(p, chromedp.FullScreenshot(100))
	dir := filepath.Join("..", "..", "bin", "browser")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".png"), png, 0o644); err != nil {
		p.t.Fatal(err)
	}
}

// axe has the page looked over, and fails the test for what keeps people out.
func (p *tab) axe() {
	p.t.Helper()
	program, err := os.ReadFile(filepath.Join(rig.NodeModules(p.t, "npm"), "axe-core", "axe.min.js"))
	if err != nil {
		p.t.Fatal(err)
	}
	type violation struct {
		ID, Impact, Help string
		Nodes            []struct {
			HTML    string `json:"html"`
			Summary string `json:"failureSummary"`
		}
	}
	if eval[bool](p, `typeof axe === 'undefined'`) {
		eval[chromedp.Void](p, string(program))
	}
	found := eval[[]violation](p, `axe.run(document, {resultTypes: ['violations']}).then(r => r.violations)`)
	for _, f := range found {
		text, _ := json.MarshalIndent(f.Nodes, "", "  ")
		if f.Impact == "serious" || f.Impact == "critical" {
			p.t.Errorf("axe: %s (%s): %s\n%s", f.ID, f.Impact, f.Help, text)
		}
	}
}

// fits checks that nothing is wider than the screen.
func (p *tab) fits() {
	p.t.Helper()
	wide := eval[[]string](p, `[...document.querySelectorAll('body *')].filter(e => {
		const r = e.getBoundingClientRect();
		return r.width > 0 && r.right > innerWidth + 1 && !e.closest('[data-scrolls]');
	}).map(e => e.outerHTML.slice(0, 120))`)
	if scrolls := eval[bool](p, `document.documentElement.scrollWidth > innerWidth`); scrolls || len(wide) > 0 {
		p.t.Errorf("the page is wider than the screen: %q", wide)
	}
}
