package cli

import (
	"fmt"
	"io"
	"strings"

	"go.yaml.in/yaml/v4"

	"spillway/profiles"
)

// vendor is what init needs of a vendor in vendors.yml.
type vendor struct {
	KeyEnv []string `yaml:"key_env"`
	Models []struct {
		ID string `yaml:"id"`
	} `yaml:"models"`

	name  string
	found string // the variable that holds its key, "" if none does
}

// readVendors reads vendors.yml in its order, which is a sound order to ask
// them in. Vendors without a variable for their key are left out.
func readVendors() ([]vendor, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(profiles.Vendors, &doc); err != nil {
		return nil, fmt.Errorf("vendors: %w", err)
	}
	pairs := doc.Content[0].Content
	var all []vendor
	for i := 0; i+1 < len(pairs); i += 2 {
		v := vendor{name: pairs[i].Value}
		if err := pairs[i+1].Decode(&v); err != nil {
			return nil, fmt.Errorf("vendors: %s: %w", v.name, err)
		}
		if len(v.KeyEnv) > 0 {
			all = append(all, v)
		}
	}
	return all, nil
}

const baseHead = schemaComment + `# The base of the profile, as "spillway init" wrote it: who can be asked, the
# plugin that decides what to do when one of them fails, and the tools of the agent.
# It is yours. Changes that are to be seen as such belong into cordis.patch.yml;
# what stands there wins.
#
# A provider whose key is not set does not start; the others do. Keys stay in the
# environment: !env NAME stands for a variable.
`

const baseFailover = `
- id: failover
  name: failover
  config:
    # Who is asked when the chosen route cannot serve, in this order. Without a
    # model it is the first one that the provider lists.
    priority:
`

const baseTools = `
# The tools of "spillway run" and "chat", in the folder where it is begun. Files of
# that folder are read and changed without a question; a command that is not on the
# list of allowed ones wants a person's word, or --yes.

- id: files
  name: tools-files

- id: shell
  name: tools-shell
  config: {confirm: unlisted}
`

// writeBase writes cordis.yml: the vendors with a key, and the others as
// comments; if none has one, all are written. The failover row and the agent's
// tools follow.
func writeBase(w io.Writer, vendors []vendor) error {
	var b strings.Builder
	b.WriteString(baseHead)
	none := true
	for _, v := range vendors {
		none = none && v.found == ""
	}
	var order strings.Builder
	for _, v := range vendors {
		variable, mark := v.found, ""
		if variable == "" {
			variable = v.KeyEnv[0]
		}
		b.WriteString("\n")
		if v.found == "" && !none {
			mark = "# "
			fmt.Fprintf(&b, "# To ask %s too, set %s and take away the marks here and in priority.\n", v.name, strings.Join(v.KeyEnv, " or "))
		}
		fmt.Fprintf(&b, "%[1]s- id: %[2]s\n%[1]s  name: provider\n%[1]s  config: {key: !env %[3]s}\n", mark, v.name, variable)
		route := "provider: " + v.name
		if len(v.Models) > 0 {
			route += ", model: " + v.Models[0].ID
		}
		fmt.Fprintf(&order, "      %s- {%s}\n", mark, route)
	}
	b.WriteString(baseFailover + order.String() + baseTools)
	_, err := io.WriteString(w, b.String())
	return err
}
