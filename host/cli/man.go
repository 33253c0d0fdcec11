package cli

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func (a *app) manCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "man [DIR]",
		Short: "Print the manual page, or write it into a folder",
		Long: `Print the manual page spillway(1) for man, with every command and flag. With DIR it is
written to DIR/spillway.1, over an older one.

  spillway man | man -l -
  spillway man ~/.local/share/man/man1`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usageError{fmt.Errorf("man takes one folder, got %d arguments", len(args))}
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			page := manual(c.Root())
			if len(args) == 0 {
				_, err := io.WriteString(a.stdout, page)
				return err
			}
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return err
			}
			path := filepath.Join(args[0], "spillway.1")
			if err := os.WriteFile(path, []byte(page), 0o644); err != nil {
				return err
			}
			_, err := fmt.Fprintf(a.stdout, "wrote  %s\n", path)
			return err
		},
	}
}

// manual is the manual page of a program, in the language of troff's macros "an".
func manual(root *cobra.Command) string {
	m := &troff{}
	name := root.Name()
	m.line(".TH %s 1 \"\" \"%s %s\" \"\"", strings.ToUpper(name), name, root.Version)
	m.section("NAME")
	m.text(name + " - " + root.Short)
	m.section("SYNOPSIS")
	m.line(".B %s", name)
	m.text("COMMAND [FLAG]...")
	m.section("DESCRIPTION")
	m.text(root.Long)
	m.section("FLAGS OF EVERY COMMAND")
	m.flags(root.PersistentFlags())
	m.section("COMMANDS")
	m.commands(root)
	m.section("ENVIRONMENT")
	m.item("SPILLWAY_HOME", "the folder of all profiles; default: spillway in the user's configuration directory")
	m.item(tokenVariable, "a token that clients of serve must send")
	m.item("SPILLWAY_PLAN", "off: the plugins are asked about every call, and no standing plan of theirs counts; default: on")
	m.item("LC_ALL, LC_MESSAGES, LANG", "the language of texts: English, or Chinese if it begins with zh")
	m.item("NO_COLOR", "no colours on a terminal")
	return m.String()
}

// troff writes a page.
type troff struct{ strings.Builder }

func (m *troff) line(format string, args ...any) { fmt.Fprintf(m, format+"\n", args...) }

func (m *troff) section(title string) { m.line(".SH %s", title) }

// escape makes text that means itself.
func escape(s string) string {
	s = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(s)
	if strings.HasPrefix(s, ".") || strings.HasPrefix(s, "'") {
		s = `\&` + s
	}
	return s
}

// text writes paragraphs. Lines that are indented stay as they are.
func (m *troff) text(s string) {
	verbatim := false
	for line := range strings.Lines(s) {
		line = strings.TrimRight(line, "\n")
		if indented := strings.HasPrefix(line, " "); indented != verbatim && line != "" {
			if verbatim = indented; verbatim {
				m.line(".nf")
			} else {
				m.line(".fi")
			}
		}
		if line == "" {
			m.line(".PP")
		} else {
			m.line("%s", escape(line))
		}
	}
	if verbatim {
		m.line(".fi")
	}
}

func (m *troff) item(name, about string) {
	m.line(".TP")
	m.line(".B %s", escape(name))
	m.text(about)
}

func (m *troff) flags(set *pflag.FlagSet) {
	set.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		value, about := pflag.UnquoteUsage(f)
		name := "--" + f.Name
		if value != "" {
			name += " " + value
		}
		if plain := []string{"", "false", "[]", "0"}; !slices.Contains(plain, f.DefValue) {
			about += fmt.Sprintf(" (default %s)", f.DefValue)
		}
		m.item(name, about)
	})
}

// commands writes those below a command, and theirs.
func (m *troff) commands(parent *cobra.Command) {
	for _, c := range parent.Commands() {
		if !c.IsAvailableCommand() || c.Name() == "help" {
			continue
		}
		m.line(".SS %s", escape(strings.TrimSuffix(c.UseLine(), " [flags]")))
		m.text(cmp.Or(c.Long, c.Short))
		m.flags(c.NonInheritedFlags())
		if c.Example != "" {
			m.line(".PP")
			m.text(c.Example)
		}
		m.commands(c)
	}
}
