package profile_test

import (
	"encoding/json"
	"fmt"

	"spillway/host/profile"
)

func ExampleCompose() {
	base, err := profile.ParseEntries(profile.Layer{Name: "base", File: "cordis.yml", Data: []byte(`
- id: claude
  name: provider-anthropic
  config: {apiKey: !env ANTHROPIC_API_KEY, timeout: 30s}
`)})
	if err != nil {
		fmt.Println(err)
		return
	}
	patch, err := profile.ParsePatch(profile.Layer{Name: "profile patch", File: "cordis.patch.yml", Data: []byte(`
- id: claude
  disabled: true
- id: cluade
  disabled: false
- insert:
    - {id: kimi, name: provider-openai, config: {apiKey: !env MOONSHOT_API_KEY ?? none}}
`)})
	if err != nil {
		fmt.Println(err)
		return
	}
	composed, err := profile.Compose(base, patch)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, w := range composed.Warnings {
		fmt.Println(w)
	}
	entries, _ := composed.Entries(func(string) (string, bool) { return "", false })
	for _, e := range entries {
		config, err := json.Marshal(e.Config)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(e.ID, e.Name, string(config))
	}
	// Output:
	// patch: entry "cluade" not found (cordis.patch.yml:4:3; nearest known: "claude")
	// kimi provider-openai {"apiKey":"none"}
}
