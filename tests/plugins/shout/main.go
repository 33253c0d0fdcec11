// Shout is the smallest plugin that looks at events: it raises every answer to
// capitals, answers the model "echo" by itself, and leaves everything else
// alone. Tests use it beside the failover plugin.
package main

import (
	"context"
	"strings"

	"spillway/sdk"
	"spillway/sdk/serve"
)

type shout struct{}

func (shout) Manifest() sdk.Manifest {
	return sdk.Manifest{Name: "shout", Version: "0.1.0", Hook: sdk.HookSpec{
		MaxDepth: 16, // every attempt, also those that other plugins make anew
		OnDown:   sdk.OnDownBypass,
	}}
}

func (shout) LLMStream(ctx context.Context, call *sdk.Call, next sdk.Next) (sdk.Stream, error) {
	if call.Request.Model == "echo" {
		return sdk.AnswerText("echo", "shout was here"), nil
	}
	s, err := next(ctx, call.Request)
	if err != nil {
		return nil, err
	}
	return sdk.Map(s, func(e sdk.Event) sdk.Event {
		if e.Kind == sdk.KindTextDelta {
			e.Text = strings.ToUpper(e.Text)
		}
		return e
	}), nil
}

func main() { serve.Main(shout{}) }
