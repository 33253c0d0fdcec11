package story_test

import (
	"fmt"
	"os"
	"time"

	"spillway/host/state/record"
	"spillway/host/story"
	"spillway/sdk"
)

func ExampleNotice() {
	kimi := record.Attempt{
		N: 1, Kind: sdk.KindPrimary, Route: sdk.Route{Provider: "kimi-coding", Model: "k3"},
		Failure: record.Failure{Code: sdk.CodeAuth, Scope: sdk.ScopeVendor},
	}
	next := record.Attempt{N: 2, Kind: sdk.KindFallback, Route: sdk.Route{Provider: "deepseek", Model: "deepseek-flash"}}
	fmt.Println(story.Notice(next, &kimi, story.Options{}))
	fmt.Println(story.Notice(next, &kimi, story.Options{Language: story.Chinese}))
	// Output:
	// switched to deepseek/deepseek-flash: kimi-coding/k3 has closed the account (AUTH)
	// 已切换到 deepseek/deepseek-flash：kimi-coding/k3 封了账号（AUTH）
}

func ExampleRequest() {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	kimi := sdk.Route{Provider: "kimi-coding", Model: "k3"}
	rec := record.Request{
		ID: "req_1", Started: at, Stream: true, Head: kimi, Outcome: record.OK, Took: record.Duration(1200 * time.Millisecond),
		Attempts: []record.Attempt{{
			N: 1, Kind: sdk.KindPrimary, Route: kimi, Sent: at, Outcome: record.AttemptOK, Committed: true,
			FirstContent: record.Duration(300 * time.Millisecond), Took: record.Duration(1200 * time.Millisecond),
			Usage: sdk.Usage{Input: 80, Output: 20},
		}},
	}
	if err := story.Request(os.Stdout, rec, story.Options{Now: at.Add(time.Minute)}); err != nil {
		fmt.Println(err)
	}
	// Output:
	// Request req_1, 12:00:00 (1m ago)
	// wants kimi-coding/k3, as a stream
	//
	//   ✓ 1 kimi-coding/k3  ░░░░░░░░░░████████████████████████████████  1.2s  answered
	//                       0                                           1.2s
	//   ░ waiting for content  █ content arrives
	//
	// └─ 1  kimi-coding/k3 is asked, as the caller wished
	//       answer     first content after 300ms, complete after 1.2s
	//       tokens     80 in, 20 out
	//
	// Answered by kimi-coding/k3 in 1.2s.
}
