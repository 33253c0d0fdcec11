package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"time"

	"github.com/spf13/cobra"

	"spillway/host/dialect/failure"
	"spillway/host/story"
	"spillway/sdk"
)

func (a *app) classifyCommand() *cobra.Command {
	var lines bool
	c := &cobra.Command{
		Use:   "classify [FILE]",
		Short: "Say how a recorded vendor answer is judged, and by which rule",
		Long: `Judge recorded answers of vendors, each a JSON object on a line of its own:

  {"id", "vendor", "protocol", "phase", "status", "headers", "body"}

protocol is openai, anthropic, gemini or other; phase is transport, response or
stream. They are judged by the host's tables and then by the failover plugin
itself: what is tested is what runs. Without FILE standard input is read.

It is told in words: what decided and what was there otherwise, for whom that
speaks, how long the vendor wants one to wait, and what the plugin does with it
under its default settings.

With --jsonl one JSON object a line is printed, in the same order:

  {"id", "code", "class", "scope", "retry_after_s", "rule"}`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usageError{fmt.Errorf("classify takes one file, got %d", len(args))}
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			in := a.stdin
			if len(args) == 1 {
				f, err := os.Open(args[0])
				if err != nil {
					return usageError{err}
				}
				defer f.Close()
				in = f
			}
			return a.classify(c.Context(), in, lines)
		},
	}
	c.Flags().BoolVar(&lines, "jsonl", false, "print one JSON object a line")
	return c
}

// maxRecordLine bounds one recorded answer.
const maxRecordLine = 4 << 20

// verdict is a line of --jsonl.
type verdict struct {
	ID         string    `json:"id"`
	Code       sdk.Code  `json:"code"`
	Class      sdk.Class `json:"class"`
	Scope      sdk.Scope `json:"scope"`
	RetryAfter *float64  `json:"retry_after_s"`
	Rule       string    `json:"rule"`
}

func (a *app) classify(ctx context.Context, in io.Reader, lines bool) error {
	judge, err := a.judge(ctx)
	if err != nil {
		return err
	}
	defer judge.stop()
	out := bufio.NewWriter(a.stdout)
	defer out.Flush()
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	scan := bufio.NewScanner(in)
	scan.Buffer(nil, maxRecordLine)
	told := false
	for n := 1; scan.Scan(); n++ {
		line := bytes.TrimSpace(scan.Bytes())
		if len(line) == 0 {
			continue
		}
		var rec failure.Record
		if err := json.Unmarshal(line, &rec); err != nil {
			return usageError{fmt.Errorf("line %d: %w", n, err)}
		}
		first := *failure.FromRecord(rec)
		f, err := judge.Judge(ctx, rec.Vendor, first)
		if err != nil {
			return err
		}
		if lines {
			err = enc.Encode(verdict{
				ID: rec.ID, Code: f.Code, Class: f.Class(), Scope: f.Scope, RetryAfter: seconds(f, time.Now()), Rule: f.Rule,
			})
		} else {
			if told {
				fmt.Fprintln(out)
			}
			told = true
			err = story.Judge(out, story.Judgement{ID: rec.ID, Vendor: rec.Vendor, First: first, Final: f}, a.telling(a.stdout))
		}
		if err != nil {
			return err
		}
	}
	if err := scan.Err(); err != nil {
		return usageError{err}
	}
	return nil
}

func seconds(f sdk.Failure, now time.Time) *float64 {
	wait := f.RetryAfter
	if wait == 0 && !f.ResetAt.IsZero() {
		wait = max(f.ResetAt.Sub(now), 0)
	}
	if wait == 0 {
		return nil
	}
	s := math.Round(wait.Seconds()*1000) / 1000
	return &s
}
