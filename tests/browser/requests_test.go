package browser

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// TestRequests: a request that two vendors failed stands in the list as it ends, can
// be found, and is drawn and told.
func TestRequests(t *testing.T) {
	s, _ := serve(t, map[string]string{"anthropic": "quota after=150ms", "kimi-coding": "ban after=80ms", "deepseek": "ok after=200ms gap=15ms"})
	p := open(t, s, "#requests", look{})
	p.wait(`document.querySelector('.requests')`)
	id := ask(t, s)
	row := fmt.Sprintf(`document.querySelector('.requests a[href="#requests/%s"]')`, id)
	p.wait(row)
	ask(t, s)
	ask(t, s, "X-Spillway-Strict: true")
	p.wait(`document.querySelectorAll('.requests li').length === 3 && document.querySelector('.requests li.bad')`)
	p.axe()
	p.shot("requests-full-wide")

	p.do(chromedp.Focus(chromedp.CSS("#filter-outcome")))
	p.press("f") // "failed"
	p.wait(`location.hash === '#requests?outcome=failed_clean' && document.querySelectorAll('.requests li').length === 1`)
	if where := eval[string](p, `document.activeElement.id`); where != "filter-outcome" {
		t.Errorf("after a filter has changed the focus is on %q", where)
	}
	eval[chromedp.Void](p, fmt.Sprintf(`void (location.hash = '#requests?text=%s')`, id[4:12]))
	p.wait(`document.querySelectorAll('.requests li').length === 1 && ` + row)

	p.do(chromedp.Click(chromedp.CSS(".requests a")))
	p.wait(fmt.Sprintf(`location.hash === '#requests/%s' && document.querySelectorAll('.timeline .bar').length === 3`, id))
	text := eval[string](p, `document.querySelector('main').innerText`)
	for _, want := range []string{id, "out of quota", "account closed", "anthropic-ratelimit-unified-status", "deepseek/deepseek-flash is asked instead"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing on the page:\n%s", want, text)
		}
	}
	p.axe()
	p.shot("request-wide")

	narrow := open(t, s, "#requests/"+id, look{width: phone, dark: true})
	narrow.wait(`document.querySelectorAll('.timeline .bar').length === 3`)
	narrow.axe()
	narrow.fits()
	narrow.shot("request-phone-dark")
}

// TestStrangersText: what a client or a vendor wrote is text, whatever it looks like.
func TestStrangersText(t *testing.T) {
	s, _ := serve(t, map[string]string{"anthropic": "error-event=0"})
	const model = `<img src=x onerror=document.title=1><b>claude</b>`
	id := askFor(t, s, "anthropic/"+model)
	p := open(t, s, "#requests", look{})
	for _, hash := range []string{"#requests", "#requests/" + id, "#status"} {
		eval[chromedp.Void](p, fmt.Sprintf(`void (location.hash = %q)`, hash))
		p.wait(fmt.Sprintf(`document.querySelector('main').innerText.includes(%q)`, model))
		if n := eval[int](p, `document.querySelectorAll('main img, main b').length`); n != 0 {
			t.Errorf("%s: %d elements are made of a model's name", hash, n)
		}
	}
}

// TestChinese: both the page's own words and those of the story.
func TestChinese(t *testing.T) {
	s, _ := serve(t, map[string]string{"anthropic": "quota"})
	id := ask(t, s)
	p := open(t, s, "#status", look{})
	p.do(chromedp.Click(chromedp.CSS("#language")))
	p.wait(`document.documentElement.lang === 'zh-CN' && document.querySelector('.step[data-vendor=anthropic]')?.innerText.includes('额度用完')`)
	text := eval[string](p, `document.body.innerText`)
	for _, want := range []string{"状态", "请求", "暂停", "设置", "插件"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing on the page:\n%s", want, text)
		}
	}
	p.shot("status-wide-zh")
	narrow := open(t, s, "#requests/"+id, look{width: phone, language: "zh"})
	narrow.wait(`document.querySelector('.story')?.textContent.includes('额度用完')`)
	narrow.fits()
	narrow.shot("request-phone-zh")
}

// TestServerGone: serve does not wait for its pages, and they say that it is gone.
func TestServerGone(t *testing.T) {
	s, _ := serve(t, nil)
	p := open(t, s, "#status", look{})
	p.wait(`document.querySelector('#connection.on')`)
	begun := time.Now()
	s.Stop()
	if took := time.Since(begun); took > 20*time.Second {
		t.Errorf("serve took %s to end: it waited for the page", took)
	}
	p.wait(`document.querySelector('#connection.off')`)
	p.expect("ERR_")
}
