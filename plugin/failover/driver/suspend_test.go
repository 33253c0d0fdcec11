package driver_test

import (
	"testing"
	"testing/synctest"
	"time"

	"spillway/sdk"
	"spillway/sdk/plugintest"
)

// TestSuspend is B18: what an attempt meets over which the machine slept says
// nothing about the vendor, before its first content and after it. Whoever was out
// by then is judged by the time that has passed.
func TestSuspend(t *testing.T) {
	quota := sdk.NewFailure(sdk.CodeQuota, "", "")
	for _, tt := range []struct {
		name   string
		answer plugintest.Answer
		want   string // of the call that slept, with who was asked
		asked  []string
	}{
		{"before the first content", plugintest.Answer{Failure: quota}, "ok from " + deepseek, []string{claude, deepseek}},
		{"after it", plugintest.Answer{Text: "some", Failure: quota}, "QUOTA", []string{claude}},
		{"an answer that is whole", plugintest.Answer{Text: "whole"}, "whole", []string{claude}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				woken := make(chan struct{})
				tt.answer.After = woken
				b := start(t, threeVendors, plugintest.Script{claude: {tt.answer}, deepseek: {fails(sdk.CodeQuota)}, kimi: {retryAfter(20 * time.Minute)}})
				b.ask(deepseek, "QUOTA", deepseek) // out for five minutes
				b.ask(kimi, "QUOTA", kimi)         // for twenty
				b.set(deepseek)
				done := make(chan struct{})
				go func() {
					defer close(done)
					b.ask(claude, tt.want, tt.asked...)
				}()
				synctest.Wait()
				time.Sleep(6 * time.Minute)
				b.plugin.Suspend(6 * time.Minute)
				close(woken)
				<-done

				for _, target := range b.host.Status().Targets {
					if target.Target == claude || target.Target == "anthropic" {
						t.Errorf("%s is %s by %s after a sleep", target.Target, target.State, target.Code)
					}
				}
				b.set(claude)
				b.ask(claude, "ok from "+claude, claude)
				b.ask(deepseek, "ok from "+deepseek, deepseek)
				b.ask(kimi, "ok from "+deepseek, deepseek)
			})
		})
	}
}

// TestNoSuspend: the same failure after a minute without a sleep counts.
func TestNoSuspend(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		after := make(chan struct{})
		b := start(t, threeVendors, plugintest.Script{claude: {{Failure: sdk.NewFailure(sdk.CodeQuota, "", ""), After: after}}})
		done := make(chan struct{})
		go func() {
			defer close(done)
			b.ask(claude, "ok from "+kimi, claude, kimi)
		}()
		synctest.Wait()
		time.Sleep(time.Minute)
		close(after)
		<-done
		b.ask(claude, "ok from "+kimi, kimi) // out
	})
}

func retryAfter(d time.Duration) plugintest.Answer {
	f := sdk.NewFailure(sdk.CodeQuota, "", "")
	f.RetryAfter = d
	return plugintest.Answer{Failure: f}
}
