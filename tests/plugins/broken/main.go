// Broken is the plugins that no author means to write. Its argument chooses one;
// a plugin gets no arguments, so tests start it from a script: "#!/bin/sh" and
// "exec broken MODE".
package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"strings"
	"time"

	"spillway/sdk"
	"spillway/sdk/serve"
)

// broken passes every call on, unless its mode says otherwise.
type broken struct{ mode string }

func (b broken) Manifest() sdk.Manifest {
	m := sdk.Manifest{Name: "broken", Version: b.mode}
	switch b.mode {
	case "huge":
		m.Schema = bytes.Repeat([]byte(" "), 2*serve.MaxFrame)
	case "nonsense":
		m.Hook = sdk.HookSpec{OnDown: "never", Wait: -time.Hour, MaxDepth: 1 << 30, Models: []string{"["}}
	case "schema":
		m.Schema = []byte("{not JSON")
	}
	return m
}

func (b broken) Configure(context.Context, sdk.Host, sdk.Config) error {
	switch b.mode {
	case "flood":
		go flood(os.NewFile(2, "standard error"))
		go flood(os.Stderr) // which goes by an rpc of go-plugin's once it serves
	case "exits-configured":
		log.SetFlags(0)
		log.Print("I do not like this")
		os.Exit(4)
	}
	return nil
}

func (b broken) LLMStream(ctx context.Context, call *sdk.Call, next sdk.Next) (sdk.Stream, error) {
	if b.mode == "panics-later" {
		go panic("no map\x1b[2J for key sk-canary0123456789")
	}
	return next(ctx, call.Request)
}

// flood writes as fast as the host reads, for ever.
func flood(w io.Writer) {
	line := []byte(`{"@level":"error","@message":"flood ` + strings.Repeat("x", 200) + `"}` + "\n")
	for {
		if _, err := w.Write(line); err != nil {
			return
		}
	}
}

func main() {
	b := broken{mode: os.Args[1]}
	switch b.mode {
	case "panics":
		panic("assignment to nothing")
	case "noisy":
		fmt.Println("hello")
		fmt.Println("1|a|table|with|bars")
		fmt.Fprintln(os.Stderr, `{"@message":1,"@level":[],"@timestamp":{}}`)
		fmt.Fprintln(os.Stderr, strings.Repeat("x", 1<<20))
	}
	serve.Main(b)
}
