// Dials is a plugin with a volatile setting of every kind that a form can draw, and
// of one that it cannot. It answers the model "dials" with its settings and leaves
// everything else alone.
package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"strings"

	"spillway/sdk"
	"spillway/sdk/serve"
)

//go:embed schema.json
var schema []byte

type dials struct{ config sdk.Live[sdk.Config] }

func (*dials) Manifest() sdk.Manifest {
	return sdk.Manifest{Name: "dials", Version: "0.1.0", Schema: schema, Hook: sdk.HookSpec{OnDown: sdk.OnDownBypass}}
}

// Configure implements sdk.Configurer.
func (d *dials) Configure(_ context.Context, _ sdk.Host, c sdk.Config) error { return d.take(c) }

// Settings implements sdk.SettingsObserver.
func (d *dials) Settings(c sdk.Config, _ []string) error { return d.take(c) }

// take refuses what no schema can tell.
func (d *dials) take(c sdk.Config) error {
	var in struct {
		Mark string `json:"mark"`
	}
	if err := json.Unmarshal(c.JSON, &in); err != nil {
		return err
	}
	if strings.Contains(in.Mark, "forbidden") {
		return sdk.Faults{{Path: "mark", Value: in.Mark, Message: "not on a day like this", Allowed: "another word"}}
	}
	d.config.Store(&c)
	return nil
}

func (d *dials) LLMStream(ctx context.Context, call *sdk.Call, next sdk.Next) (sdk.Stream, error) {
	if call.Request.Model == "dials" {
		return sdk.AnswerText("dials", string(d.config.Load().JSON)), nil
	}
	return next(ctx, call.Request)
}

func main() { serve.Main(&dials{}) }
