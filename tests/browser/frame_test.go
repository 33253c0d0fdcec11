package browser

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"

	"spillway/host/sim"
	"spillway/tests/internal/rig"
)

// priority is the failover row of the tests' profiles.
const priority = `- id: failover
  name: failover
  config: {priority: [anthropic, kimi-coding, deepseek]}
`

// serve runs a profile with the vendors, played by scripts.
func serve(t *testing.T, scripts map[string]string, env ...string) (*rig.Server, *sim.Server) {
	t.Helper()
	var vendors []sim.Vendor
	for _, name := range []string{"anthropic", "kimi-coding", "deepseek"} {
		vendors = append(vendors, sim.Vendor{Name: name, Script: scripts[name]})
	}
	sims := rig.Vendors(t, vendors...)
	rows, keys := rig.Providers(sims, "anthropic", "openai")
	return rig.Serve(t, rows+priority, append(keys, env...)...), sims
}

// ready is what a view shows when it is whole.
var ready = map[string]string{"status": "'.step'", "requests": "'.requests li'", "settings": "'h1'", "plugins": "'.plugin'"}

// TestViews: each view can be reached, on a wide screen and a phone's, in light and
// in dark, and axe finds nothing serious in it.
func TestViews(t *testing.T) {
	s, _ := serve(t, map[string]string{"anthropic": "quota", "kimi-coding": "ban"})
	ask(t, s)
	for _, l := range []look{{}, {dark: true}, {width: phone}} {
		p := open(t, s, "#status", l)
		for _, view := range []string{"requests", "settings", "plugins", "status"} {
			p.do(chromedp.Click(chromedp.CSS(fmt.Sprintf(`nav a[href="#%s"]`, view))))
			p.wait(fmt.Sprintf(`document.querySelector('nav a[aria-current]').hash === '#%s' && document.querySelector(%s)`, view, ready[view]))
			p.axe()
			p.fits()
			p.shot(fmt.Sprintf("%s-%s", view, l.name()))
		}
	}
}
