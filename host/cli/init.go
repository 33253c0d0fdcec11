package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"spillway/host"
	"spillway/host/profile"
	"spillway/profiles"
)

// schemaFile is the editors' schema, below the profile's folder.
const schemaFile = profile.StateDir + "/profile.schema.json"

func (a *app) initCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "init [DIR|NAME]",
		Short: "Write a profile for the keys that the environment holds",
		Long: `Write a profile: cordis.yml with the providers whose usual key variable is set
(the others are in it as comments; without any key all are in it, and start once
theirs is set), the agent's tools for files and the shell, cordis.patch.yml for
your changes, the failover plugin, and a schema that makes editors complete and
check both files.

What has a slash is a folder, anything else the name of a profile; without either
it is the default one. Nothing that is there is overwritten: delete what you want
to have anew. No key is written anywhere.`,
		Example: `  spillway init
  spillway init ./team/`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usageError{fmt.Errorf("init takes one folder or name, got %d arguments", len(args))}
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 1 {
				a.profile = args[0]
			}
			return a.init(c.Context())
		},
	}
	a.jsonFlag(c, "what was done")
	return c
}

// setup is what init finds and does.
type setup struct {
	Profile string     `json:"profile"` // its folder
	Found   []vendorAt `json:"found"`   // vendors with a key, and its variable
	Unset   []vendorAt `json:"unset"`   // those without, and what to set
	Wrote   []string   `json:"wrote"`
	Kept    []string   `json:"kept"` // files that were there
	Next    string     `json:"next"` // what to do now
}

// vendorAt is a vendor and variables for its key.
type vendorAt struct {
	Vendor    string   `json:"vendor"`
	Variables []string `json:"variables"`
}

func (a *app) init(ctx context.Context) error {
	home, err := a.home()
	if err != nil {
		return err
	}
	dir, err := profile.Dir(home, a.profile)
	if err != nil {
		return usageError{err}
	}
	vendors, err := readVendors()
	if err != nil {
		return err
	}
	s := &setup{Profile: dir, Found: []vendorAt{}, Unset: []vendorAt{}, Wrote: []string{}, Kept: []string{}}
	for i, v := range vendors {
		if vendors[i].found = a.firstSet(v.KeyEnv); vendors[i].found != "" {
			s.Found = append(s.Found, vendorAt{v.name, []string{vendors[i].found}})
		} else {
			s.Unset = append(s.Unset, vendorAt{v.name, v.KeyEnv})
		}
	}
	made := errors.Join(
		s.put(profile.BaseFile, 0o600, func(w io.Writer) error { return writeBase(w, vendors) }),
		s.put(profile.PatchFile, 0o600, writePatch),
		s.put(filepath.Join(profile.PluginsDir, failoverModule), 0o755, copyFailover),
		s.put(schemaFile, 0o600, func(w io.Writer) error { return a.writeSchema(ctx, w, dir) }),
	)
	s.Next = a.next(s)
	if a.asJSON {
		err = a.printJSON(s)
	} else {
		err = s.tell(a.stdout)
	}
	return errors.Join(made, err)
}

func (a *app) firstSet(variables []string) string {
	i := slices.IndexFunc(variables, func(name string) bool {
		v, _ := a.env(name)
		return v != ""
	})
	if i < 0 {
		return ""
	}
	return variables[i]
}

// put makes a file of the profile unless it is there. Nobody can run a program
// before it is whole.
func (s *setup) put(name string, mode fs.FileMode, write func(io.Writer) error) error {
	path := filepath.Join(s.Profile, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		s.Kept = append(s.Kept, path)
		return nil
	}
	if err != nil {
		return err
	}
	if err = write(f); err == nil {
		err = f.Chmod(mode)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	s.Wrote = append(s.Wrote, path)
	return nil
}

func copyFailover(w io.Writer) error {
	source, err := judgeFile(pluginDirs())
	if err != nil {
		return err
	}
	f, err := os.Open(source)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(w, f)
	return err
}

// schemaComment tells the YAML language server of the schema.
const schemaComment = "# yaml-language-server: $schema=" + schemaFile + "\n"

func writePatch(w io.Writer) error {
	text, err := fs.ReadFile(profiles.Files, "default/"+profile.PatchFile)
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, schemaComment+string(text))
	return err
}

func (a *app) writeSchema(ctx context.Context, w io.Writer, dir string) error {
	schema, lacking, err := host.EditorSchema(ctx, host.Options{Dir: dir, PluginDirs: pluginDirs(), Env: a.env})
	if err != nil {
		return err
	}
	for _, line := range lacking {
		fmt.Fprintf(a.stderr, "spillway: its config is not in the schema: %s\n", line)
	}
	_, err = fmt.Fprintf(w, "%s\n", schema)
	return err
}

// plainWord needs no quotes in a shell.
var plainWord = regexp.MustCompile(`^[\w./-]+$`)

// shellWord is s as it can be given to a shell.
func shellWord(s string) string {
	if plainWord.MatchString(s) {
		return s
	}
	return strconv.Quote(s)
}

// next is what the user does now.
func (a *app) next(s *setup) string {
	flag := a.profileFlag(s.Profile)
	switch {
	case slices.Contains(s.Kept, filepath.Join(s.Profile, profile.BaseFile)):
		return "spillway config check" + flag
	case len(s.Found) == 0:
		return "set one of these variables, then: spillway run" + flag + ` "why is the sky blue?"`
	}
	return "spillway run" + flag + ` "why is the sky blue?"`
}

// tell writes it for people.
func (s *setup) tell(w io.Writer) error {
	var b strings.Builder
	for _, v := range s.Found {
		fmt.Fprintf(&b, "found  %s for %s\n", v.Variables[0], v.Vendor)
	}
	for _, path := range s.Wrote {
		fmt.Fprintf(&b, "wrote  %s\n", path)
	}
	for _, path := range s.Kept {
		fmt.Fprintf(&b, "kept   %s\n", path)
	}
	for _, v := range s.Unset {
		fmt.Fprintf(&b, "unset  %s for %s\n", strings.Join(v.Variables, " or "), v.Vendor)
	}
	fmt.Fprintf(&b, "next   %s\n", s.Next)
	_, err := io.WriteString(w, b.String())
	return err
}
