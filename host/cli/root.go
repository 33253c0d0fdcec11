// Package cli is the command line: it parses flags, composes the runtime, and
// maps errors to exit codes.
//
//	0    done
//	1    it failed: nothing could serve, a server could not start, …
//	2    the command, the profile or a file is wrong
//	3    a person must decide whether a tool call of the agent happened
//	130  the agent was interrupted
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"spillway/host"
	"spillway/host/agent"
	"spillway/host/profile"
	"spillway/host/story"
	"spillway/profiles"
)

// Exit codes.
const (
	exitFailed      = 1
	exitUsage       = 2
	exitUndecided   = 3
	exitInterrupted = 130 // as shells have it for Ctrl-C
)

// usageError is an error in what the user wrote.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// quietError is an error that was shown already.
type quietError struct{ error }

// Main runs the command line and returns the exit code. It reads and writes the
// given streams and the process's environment.
func Main(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	keepOthersOut()
	a := &app{stdin: stdin, stdout: stdout, stderr: stderr, env: lookup(os.LookupEnv)}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// A reader of the output that leaves must not end us before we have cleaned
	// up; writing to it fails.
	signal.Ignore(syscall.SIGPIPE)
	root := a.root()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	if _, quiet := errors.AsType[quietError](err); !quiet {
		fmt.Fprintf(stderr, "spillway: %s\n", story.Block(err.Error())) // a vendor's words may be in it
	}
	return exitCode(err)
}

func exitCode(err error) int {
	if err == nil {
		return 0
	}
	if _, usage := errors.AsType[usageError](err); usage {
		return exitUsage
	}
	if _, bad := errors.AsType[*profile.Error](err); bad {
		return exitUsage
	}
	if _, bad := errors.AsType[*host.VariableError](err); bad {
		return exitUsage
	}
	if _, undecided := errors.AsType[*agent.UndecidedError](err); undecided {
		return exitUndecided
	}
	if errors.Is(err, agent.ErrInterrupted) {
		return exitInterrupted
	}
	return exitFailed
}

// app is what the commands share.
type app struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	env            profile.Lookup

	profile  string
	patches  []string
	logLevel string
	asJSON   bool
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "spillway",
		Short: "Keep an agent working when its LLM vendor stops",
		Long: `spillway runs model calls through a chain of plugins. Its failover plugin moves a
failing call to the next vendor before the agent notices.

Start with "spillway demo": no key and no network are needed.

Exit codes: 0 done; 1 it failed; 2 the command, the profile or a file is wrong;
3 a person must decide about a tool call; 130 the agent was interrupted.`,
		Version:       version(),
		Args:          unknownCommand,
		RunE:          func(c *cobra.Command, _ []string) error { return c.Help() },
		SilenceErrors: true,
		SilenceUsage:  true,

		SuggestionsMinimumDistance: 2,
	}
	root.SetFlagErrorFunc(flagError)
	f := root.PersistentFlags()
	f.StringVar(&a.profile, "profile", "default", "profile `NAME`, or a path to its folder (with a slash)")
	f.StringArrayVar(&a.patches, "patch", nil, "further patch `FILE`, may be repeated")
	f.StringVar(&a.logLevel, "log-level", "warn", "debug, info, warn or error")
	root.AddCommand(
		a.demoCommand(), a.initCommand(), a.runCommand(), a.chatCommand(), a.sessionCommand(), a.ledgerCommand(), a.serveCommand(),
		a.statusCommand(), a.explainCommand(), a.classifyCommand(), a.configCommand(), a.pluginCommand(), a.simCommand(),
		a.dryRunCommand(), a.drillCommand(), a.doctorCommand(), a.completionCommand(), a.manCommand(),
	)
	root.AddCommand(a.operatorCommands()...)
	for _, c := range root.Commands() {
		if c.Args == nil && c.RunE != nil {
			c.Args = noArgs
		}
	}
	a.offers(root)
	root.SetHelpCommand(&cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Help about a command",
		RunE: func(_ *cobra.Command, args []string) error {
			c, rest, err := root.Find(args)
			if err == nil {
				err = unknownCommand(c, rest)
			}
			if err != nil {
				return err
			}
			c.InitDefaultHelpFlag()
			c.InitDefaultVersionFlag()
			return c.Help()
		},
	})
	return root
}

// unknownCommand refuses what follows a command that has commands of its own.
func unknownCommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	hint := didYouMean(c.SuggestionsFor(args[0]))
	if hint == "" {
		hint = fmt.Sprintf(" (%s --help lists them)", c.CommandPath())
	}
	return usageError{fmt.Errorf("unknown command %q%s", strings.TrimSpace(pathOf(c)+" "+args[0]), hint)}
}

// flagError says what is wrong with a flag.
func flagError(c *cobra.Command, err error) error {
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok {
		var known []string
		c.Flags().VisitAll(func(f *pflag.Flag) { known = append(known, f.Name) })
		name, dashes := unknown.GetSpecifiedName(), "--"
		if letters := unknown.GetSpecifiedShortnames(); letters != "" {
			name, dashes = letters, "-"
		}
		near := profile.Nearest(name, known)
		for i := range near {
			near[i] = "--" + near[i]
		}
		hint := didYouMean(near)
		if hint == "" {
			hint = fmt.Sprintf(" (%s --help lists them)", c.CommandPath())
		}
		return usageError{fmt.Errorf("unknown flag: %s%s%s", dashes, name, hint)}
	}
	if bad, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		return usageError{fmt.Errorf("--%s: got %q (allowed: %s)", bad.GetFlag().Name, bad.GetValue(), allowed(bad.GetFlag()))}
	}
	return usageError{err}
}

// allowed is what a flag takes whose type refuses some texts.
func allowed(f *pflag.Flag) string {
	switch f.Value.Type() {
	case "duration":
		return "a time such as 90s, 30m or 2h"
	case "int":
		return "a whole number"
	}
	return "true, false"
}

// didYouMean names what was perhaps meant, if anything was.
func didYouMean(near []string) string {
	if len(near) == 0 {
		return ""
	}
	return "; did you mean " + strings.Join(near, " or ") + "?"
}

// pathOf is how a command is called, without the program's name.
func pathOf(c *cobra.Command) string {
	return strings.TrimSpace(strings.TrimPrefix(c.CommandPath(), c.Root().Name()))
}

func noArgs(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usageError{fmt.Errorf("%s takes no argument, got %q", pathOf(c), args[0])}
	}
	return nil
}

func (a *app) jsonFlag(c *cobra.Command, what string) {
	c.Flags().BoolVar(&a.asJSON, "json", false, "print "+what+" as JSON")
}

// logger writes to standard error at the chosen level.
func (a *app) logger() (*slog.Logger, error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(a.logLevel)); err != nil {
		return nil, usageError{fmt.Errorf("--log-level: got %q (allowed: debug, info, warn, error)", a.logLevel)}
	}
	return slog.New(slog.NewTextHandler(a.stderr, &slog.HandlerOptions{Level: level})), nil
}

// home is the folder of all profiles.
func (a *app) home() (string, error) { return profile.Home(a.env) }

// dir is the folder of the chosen profile. The built-in profiles are written
// out when they are first used.
func (a *app) dir() (string, error) {
	home, err := a.home()
	if err != nil {
		return "", err
	}
	dir, err := profile.Dir(home, a.profile)
	if err != nil {
		return "", usageError{err}
	}
	if _, err := os.Stat(filepath.Join(dir, profile.BaseFile)); !errors.Is(err, fs.ErrNotExist) {
		return dir, nil // whoever reads it tells what else is wrong
	}
	if a.profile != "default" {
		return "", a.noProfile(home, dir)
	}
	if err := profiles.Write(a.profile, dir); err != nil {
		return "", err
	}
	fmt.Fprintf(a.stderr, "spillway: wrote the default profile to %s\n", dir)
	return dir, nil
}

// profileFlag is what a command that is told to the user needs to mean the chosen
// profile, whose folder is dir, from any folder. It begins with a blank, or is "".
func (a *app) profileFlag(dir string) string {
	switch {
	case strings.Contains(a.profile, "/"):
		return " --profile " + shellWord(dir)
	case a.profile != "default":
		return " --profile " + shellWord(a.profile)
	}
	return ""
}

// noProfile says how to make the chosen profile, which is not there, and which
// one was perhaps meant.
func (a *app) noProfile(home, dir string) error {
	near := ""
	if !strings.Contains(a.profile, "/") {
		var names []string
		entries, _ := os.ReadDir(filepath.Join(home, "profiles")) // without it there are none
		for _, e := range entries {
			names = append(names, e.Name())
		}
		near = didYouMean(profile.Nearest(a.profile, names))
	}
	return usageError{fmt.Errorf("no profile in %s: %s is missing there (spillway init %s makes one)%s", dir, profile.BaseFile, shellWord(a.profile), near)}
}

// options say which profile is chosen, and where what it names is.
func (a *app) options() (host.Options, error) {
	dir, err := a.dir()
	if err != nil {
		return host.Options{}, err
	}
	home, err := a.home()
	if err != nil {
		return host.Options{}, err
	}
	return host.Options{Dir: dir, Home: home, Overlays: a.patches, PluginDirs: pluginDirs(), Env: a.env}, nil
}

// runtime starts the chosen profile. Watch keeps it in step with its files.
func (a *app) runtime(ctx context.Context, watch bool) (*host.Runtime, error) {
	log, err := a.logger()
	if err != nil {
		return nil, err
	}
	o, err := a.options()
	if err != nil {
		return nil, err
	}
	if err := profile.CheckState(o.Dir); err != nil {
		return nil, err
	}
	o.Log, o.Watch = log, watch
	return host.Open(ctx, o)
}

// pluginDirs is where the plugins that come with spillway are: beside it.
func pluginDirs() []string {
	exe, err := os.Executable()
	if err != nil {
		return nil
	}
	if real, err := filepath.EvalSymlinks(exe); err == nil {
		exe = real
	}
	return []string{filepath.Join(filepath.Dir(exe), profile.PluginsDir)}
}

// telling is how texts are shown on w.
func (a *app) telling(w io.Writer) story.Options {
	o := story.Options{Language: story.LanguageOf(a.env)}
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return o
	}
	_, plain := a.env("NO_COLOR")
	o.Colour = !plain
	if width, _, err := term.GetSize(int(f.Fd())); err == nil {
		o.Width = width
	}
	return o
}
