package sim

import "time"

// Demo is the constellation of the tour: Claude's plan is used up, Kimi has
// closed the account, DeepSeek answers. The models are those of the built-in
// vendor data.
func Demo() Options {
	return Options{Vendors: []Vendor{
		{Name: "anthropic", Models: []string{"claude-sonnet-5", "claude-opus-4-8", "claude-haiku-4-5"}, Script: "quota"},
		{Name: "kimi-coding", Models: []string{"k3", "kimi-for-coding"}, Script: "ban"},
		{Name: "deepseek", Models: []string{"deepseek-flash", "deepseek-v4-pro"}, Answer: Answer{
			Text: "Claude was out of quota and Kimi had closed the account, so DeepSeek answers. You lost nothing: neither the prompt nor the conversation.",
			Gap:  20 * time.Millisecond,
		}},
	}}
}
