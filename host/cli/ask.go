package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"spillway/host"
	"spillway/host/llm"
	"spillway/host/state/record"
	"spillway/host/story"
	"spillway/profiles"
	"spillway/sdk"
)

func (a *app) runCommand() *cobra.Command {
	var model string
	c := &cobra.Command{
		Use:   "run PROMPT",
		Short: "Ask once; the answer is streamed to standard output",
		Long: `Ask once. The answer goes to standard output as it comes; a switch of vendors is
told in one line on standard error. Without PROMPT it is read from standard input.

With --json every event is a line of JSON, the last of which has the request's id.`,
		Example: "  spillway run \"why is the sky blue?\"\n  spillway run --model deepseek/deepseek-flash < question.txt",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usageError{fmt.Errorf("run takes one prompt, got %d arguments; put it in quotes", len(args))}
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			prompt, err := a.prompt(args)
			if err != nil {
				return err
			}
			rt, err := a.runtime(c.Context(), false)
			if err != nil {
				return err
			}
			defer rt.Close()
			_, err = a.ask(c.Context(), rt, model, prompt)
			return err
		},
	}
	c.Flags().StringVar(&model, "model", "auto", "`ROUTE` to ask first: provider/model, or a model's name")
	a.jsonFlag(c, "events")
	return c
}

// maxPrompt bounds a prompt from standard input.
const maxPrompt = 16 << 20

func (a *app) prompt(args []string) (string, error) {
	var prompt string
	if len(args) == 1 {
		prompt = args[0]
	} else {
		b, err := io.ReadAll(io.LimitReader(a.stdin, maxPrompt+1))
		if err != nil {
			return "", err
		}
		if len(b) > maxPrompt {
			return "", usageError{fmt.Errorf("run: the prompt is larger than %d MB", maxPrompt>>20)}
		}
		prompt = string(b)
	}
	if strings.TrimSpace(prompt) == "" {
		return "", usageError{errors.New("run: no prompt: give one as the argument or on standard input")}
	}
	return prompt, nil
}

// ask makes one call and prints its answer. It returns the request's id.
func (a *app) ask(ctx context.Context, rt *host.Runtime, model, prompt string) (string, error) {
	meant, err := rt.Resolve(model, nil)
	if err != nil {
		return "", usageError{err}
	}
	call, stream := rt.Call(ctx, host.Inbound{
		Route: meant.Route, Wants: meant.Wants, Stream: true, Notice: a.notice,
		Shape: sdk.Shape{PromptTokens: len(prompt)/4 + 1, Messages: 1},
		Payload: llm.PromptPayload(&sdk.Prompt{
			Messages: []sdk.Message{{Role: sdk.RoleUser, Parts: []sdk.Part{sdk.TextPart(prompt)}}},
		}),
	})
	f, begun := a.print(stream)
	call.Trace.Finish(f, begun)
	if a.asJSON {
		_ = json.NewEncoder(a.stdout).Encode(map[string]string{"request": call.ID})
	} else if begun {
		fmt.Fprintln(a.stdout)
	}
	if f == nil {
		return call.ID, nil
	}
	if begun {
		return call.ID, fmt.Errorf("the answer broke off: %w (request %s)", f, call.ID)
	}
	return call.ID, fmt.Errorf("nobody could answer: %w (request %s)", f, call.ID)
}

// print writes an answer as it comes.
func (a *app) print(s sdk.Stream) (f *sdk.Failure, begun bool) {
	enc := json.NewEncoder(a.stdout)
	for e, err := range s.Events() {
		if err != nil {
			return sdk.NewFailure(sdk.CodePlugin, "stream", err.Error()), begun
		}
		begun = begun || sdk.DefaultVisible.Shows(e)
		if e.Kind == sdk.KindFinish {
			f = e.Failure
		}
		if a.asJSON {
			err = enc.Encode(eventLine(e))
		} else if e.Kind == sdk.KindTextDelta {
			_, err = fmt.Fprint(a.stdout, e.Text)
		}
		if err != nil { // nobody reads on: "spillway run … | head"
			return sdk.NewFailure(sdk.CodeAborted, "caller", err.Error()), begun
		}
	}
	return f, begun
}

// eventLine is an event as --json prints it.
func eventLine(e sdk.Event) map[string]any {
	names := map[sdk.EventKind]string{
		sdk.KindStart: "start", sdk.KindBlockStart: "block_start", sdk.KindTextDelta: "text",
		sdk.KindReasoningDelta: "reasoning", sdk.KindToolCallDelta: "tool_call", sdk.KindBlockEnd: "block_end",
		sdk.KindUsage: "usage", sdk.KindFinish: "finish",
	}
	line := map[string]any{"event": names[e.Kind]}
	set := func(key, v string) {
		if v != "" {
			line[key] = v
		}
	}
	set("text", e.Text)
	set("model", e.Model)
	set("name", e.Name)
	set("finish", string(e.Finish))
	if e.Usage != nil {
		line["usage"] = e.Usage
	}
	if e.Failure != nil {
		line["failure"] = record.FailureOf(e.Failure)
	}
	return line
}

// notice tells of a switch on standard error, in one line.
func (a *app) notice(at record.Attempt, before *record.Attempt) {
	if a.asJSON {
		return
	}
	if line := story.Notice(at, before, a.telling(a.stderr)); line != "" {
		fmt.Fprintln(a.stderr, line)
	}
}

func (a *app) demoCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "demo",
		Short: "The tour: two vendors are down, the answer comes all the same",
		Long: `Three simulated vendors run on this machine: Claude's plan is used up, Kimi has
closed the account, DeepSeek answers. One prompt goes through the real failover
plugin, in a process of its own, and real HTTP. No key, no network.`,
		RunE: func(c *cobra.Command, _ []string) error { return a.demo(c.Context()) },
	}
	a.jsonFlag(c, "the story")
	return c
}

const demoPrompt = "What does a spillway do?"

func (a *app) demo(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "spillway-demo-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := profiles.Write("demo", dir); err != nil {
		return err
	}
	log, err := a.logger()
	if err != nil {
		return err
	}
	rt, err := host.Open(ctx, host.Options{Dir: dir, PluginDirs: pluginDirs(), Env: a.env, Log: log, Memory: true})
	if err != nil {
		return err
	}
	defer rt.Close()
	for _, e := range rt.Graph().Entries() {
		if e.Error != "" {
			return fmt.Errorf("%s: %s", e.ID, e.Error)
		}
	}
	if a.asJSON {
		quiet := *a
		quiet.stdout, quiet.stderr, quiet.asJSON = io.Discard, io.Discard, false
		id, err := quiet.ask(ctx, rt, "auto", demoPrompt)
		if err != nil {
			return err
		}
		rec, err := rt.Records().Get(ctx, id)
		if err != nil {
			return err
		}
		return json.NewEncoder(a.stdout).Encode(rec)
	}
	fmt.Fprintf(a.stdout, "> %s\n\n", demoPrompt)
	id, err := a.ask(ctx, rt, "auto", demoPrompt)
	if err != nil {
		return err
	}
	rec, err := rt.Records().Get(ctx, id)
	if err != nil {
		return err
	}
	fmt.Fprintln(a.stdout)
	return story.Request(a.stdout, rec, a.telling(a.stdout))
}
