package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"spillway/host"
)

func (a *app) schemaCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "schema [MODULE]",
		Short: "Print the JSON Schema of profile files, or of a module's settings",
		Long: `Print a JSON Schema (2020-12). Without MODULE it is that of cordis.yml and
cordis.patch.yml with the modules that this profile can name, for editors. Tell
the YAML language server of it by a first line in the file, and of the tag !env
by its setting yaml.customTags: ["!env scalar"]:

  # yaml-language-server: $schema=state/profile.schema.json

With MODULE it is that of the module's config.`,
		Example: `  spillway config schema > ~/.config/spillway/profiles/default/state/profile.schema.json
  spillway config schema failover`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usageError{fmt.Errorf("config schema takes one module, got %d arguments", len(args))}
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 1 {
				return a.moduleSchema(c.Context(), args[0])
			}
			return a.editorSchema(c.Context())
		},
	}
	return c
}

func (a *app) editorSchema(ctx context.Context) error {
	o, err := a.options()
	if err != nil {
		return err
	}
	schema, lacking, err := host.EditorSchema(ctx, o)
	if err != nil {
		return err
	}
	for _, line := range lacking {
		fmt.Fprintf(a.stderr, "spillway: its config is not in the schema: %s\n", line)
	}
	_, err = fmt.Fprintf(a.stdout, "%s\n", schema)
	return err
}

func (a *app) moduleSchema(ctx context.Context, module string) error {
	o, err := a.options()
	if err != nil {
		return err
	}
	schema, err := host.ConfigSchema(ctx, o, module)
	if err != nil {
		return usageError{err}
	}
	if len(schema) == 0 {
		schema = json.RawMessage("{}") // any config
	}
	var b bytes.Buffer
	if err := json.Indent(&b, schema, "", "  "); err != nil {
		return fmt.Errorf("module %q: schema: %w", module, err)
	}
	_, err = fmt.Fprintf(a.stdout, "%s\n", bytes.TrimSpace(b.Bytes()))
	return err
}
