package agent

import (
	"fmt"
	"strings"

	"spillway/sdk"
)

const (
	// maxResult bounds the text of one tool's result, in bytes: some 16 000 tokens,
	// an eighth of a usual window, and
	maxResult = 64 << 10
	// resultShare of a smaller one.
	resultShare = 8
)

// fitting are a result's parts, with what is too long cut in its middle, where
// the least is said.
func (a *Agent) fitting(parts []sdk.Part) []sdk.Part {
	window, _ := a.window()
	left := min(maxResult, window*bytesPerToken/resultShare)
	fit := make([]sdk.Part, 0, len(parts))
	for _, p := range parts {
		if p.Kind == sdk.PartText {
			p.Text = cutMiddle(p.Text, left)
			left = max(left-len(p.Text), 0)
		}
		fit = append(fit, p)
	}
	return fit
}

// cutMiddle shortens s to about most bytes, and says so.
func cutMiddle(s string, most int) string {
	if len(s) <= most {
		return s
	}
	half := most / 2
	head, tail := s[:half], s[len(s)-half:]
	return strings.ToValidUTF8(head, "") + fmt.Sprintf("\n[%d bytes left out here]\n", len(s)-2*half) + strings.ToValidUTF8(tail, "")
}
