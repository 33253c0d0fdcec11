package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
)

// Panel is a group of bars that share a scale.
type Panel struct {
	Title string
	Bars  []Bar
}

// Bar is one bar. Ours are drawn in another colour.
type Bar struct {
	Label string
	Value float64
	Ours  bool
}

// Sizes of the plot in pixels.
const (
	plotWidth  = 720
	labelWidth = 190
	valueWidth = 70
	barHeight  = 18
	barGap     = 4
	titleSpace = 30
	panelGap   = 12
	margin     = 8
)

// colours follow what the reader's system prefers: an image in a README does not
// know its page's background.
const colours = `<style>
text{font:12px system-ui,sans-serif;fill:#1f2328}
.t{font-weight:600}.v{font-variant-numeric:tabular-nums}
.o{fill:#0969da}.p{fill:#8c959f}
@media (prefers-color-scheme:dark){text{fill:#e6edf3}.o{fill:#4493f8}.p{fill:#6e7681}}
</style>
`

// WritePlot draws the panels below one another as an SVG image.
func WritePlot(w io.Writer, title string, panels []Panel) error {
	height := margin
	for _, p := range panels {
		height += titleSpace + len(p.Bars)*(barHeight+barGap) + panelGap
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img"><title>%s</title>`+"\n",
		plotWidth, height, plotWidth, height, escaped(title))
	b.WriteString(colours)
	y := margin
	for _, p := range panels {
		fmt.Fprintf(&b, `<text class="t" x="%d" y="%d">%s</text>`+"\n", margin, y+18, escaped(p.Title))
		y += titleSpace
		var most float64
		for _, bar := range p.Bars {
			most = max(most, bar.Value)
		}
		for _, bar := range p.Bars {
			class := "p"
			if bar.Ours {
				class = "o"
			}
			width := max(Ratio(bar.Value, most), 0) * (plotWidth - labelWidth - valueWidth)
			fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="end">%s</text><rect class="%s" x="%d" y="%d" width="%.1f" height="%d" rx="2"/><text class="v" x="%.1f" y="%d">%s</text>`+"\n",
				labelWidth-8, y+13, escaped(bar.Label), class, labelWidth, y, max(width, 1), barHeight, labelWidth+width+6, y+13, Number(bar.Value, true))
			y += barHeight + barGap
		}
		y += panelGap
	}
	b.WriteString("</svg>\n")
	_, err := io.WriteString(w, b.String())
	return err
}

func escaped(text string) string {
	var b strings.Builder
	// A strings.Builder takes everything.
	_ = xml.EscapeText(&b, []byte(text))
	return b.String()
}
