package chaos

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"spillway/host/profile"
)

// failing are the vendors that the adversary has, haven the one that it leaves
// alone: it always answers, so every call can be answered.
var failing = []string{"alpha", "beta", "gamma"}

const haven = "haven"

// pace has the limits of a run. Under the race detector everything takes longer.
type pace struct {
	firstContent, idle, deadline, whole time.Duration
	hang                                time.Duration // more than any call may take
	recovery                            time.Duration // until nothing stands against a sound vendor
}

// permitTime is how much longer than its attempt may take a test of a target keeps
// others from testing it, if the plugin is killed when it has begun the test and has
// not yet ordered the attempt, or knows the attempt's end and has not yet stored it:
// nobody is left who could end the test. Cooldowns are shorter.
const permitTime = 10 * time.Second

func newPace(race bool) pace {
	p := pace{firstContent: 1500 * time.Millisecond, idle: time.Second, deadline: 12 * time.Second, whole: 8 * time.Second}
	if race {
		p.firstContent, p.idle, p.deadline, p.whole = 4*time.Second, 3*time.Second, 25*time.Second, 20*time.Second
	}
	p.hang = 2 * p.deadline
	p.recovery = permitTime + p.whole + p.idle // an attempt may take as long as a whole answer
	return p
}

// endpoints are the dialects in which a vendor is spoken to: some of a caller's are
// relayed, some translated.
var endpoints = map[string][]string{
	"alpha": {"openai", "anthropic", "responses"},
	"beta":  {"openai"},
	"gamma": {"anthropic"},
	haven:   {"openai", "anthropic"},
}

// base is the profile that the edits are made to.
func base(vendors []*vendor, state string) string {
	var b strings.Builder
	b.WriteString(state)
	for _, v := range vendors {
		var at []string
		for _, dialect := range endpoints[v.name] {
			at = append(at, dialect+": "+v.url())
		}
		fmt.Fprintf(&b, "- {id: %s, name: provider, config: {endpoints: {%s}, models: [m], keys: [key-of-%s]}}\n", v.name, strings.Join(at, ", "), v.name)
	}
	b.WriteString("- {id: failover, name: failover, config: {priority: [haven/m]}}\n")
	return b.String()
}

// settings are what edits change.
type settings struct {
	order     []string
	threshold int
	cooldown  int    // not volatile: a change starts the plugin anew
	rogue     string // what the second plugin does, "" without one
}

func newSettings() settings {
	return settings{order: append(slices.Clone(failing), haven), threshold: 2}
}

// edit makes the settings of a choice.
func (s *settings) edit(choice int) {
	rng := rand.New(rand.NewPCG(uint64(choice), 1))
	// Who stands last has nobody to stand in for it.
	rng.Shuffle(len(failing), func(i, j int) { s.order[i], s.order[j] = s.order[j], s.order[i] })
	s.threshold = []int{1, 2, 3, 50}[rng.IntN(4)]
	if rng.IntN(5) == 0 {
		s.cooldown++
	}
}

// patch is the settings as a file. All times are short, so that vendors that were
// out come back while the run lasts.
func (s *settings) patch(p pace) string {
	text := fmt.Sprintf(`- id: failover
  config:
    priority: [%s/m]
    failureThreshold: %d
    cooldownMs: 600
    maxCooldownMs: %d
    transientCooldownMs: 200
    keys: {cooldownMs: 300, maxCooldownMs: 1000}
    halts: {cooldownMs: 400, maxCooldownMs: 1000, rateMs: 300}
    budget:
      deadlineMs: %d
      wholeDeadlineMs: %d
      firstContentMs: %d
      idleMs: %d
      connectMs: 1000
      backoffMs: 20
      maxBackoffMs: 100
      waitUpToMs: 300
`, strings.Join(s.order, "/m, "), s.threshold, 1000+s.cooldown, p.deadline.Milliseconds(), p.whole.Milliseconds(), p.firstContent.Milliseconds(), p.idle.Milliseconds())
	if s.rogue != "" {
		text += fmt.Sprintf("- insert: [{id: rogue, name: rogue, config: {mode: %s}}]\n", s.rogue)
	}
	return text
}

// badSaves cannot be used; each is told in its way.
var badSaves = []string{
	"- id: failover\n  config: {priority: [",
	"# nothing\n",
	"- id: failover\n  config: {priorty: [haven/m]}\n",
	"- id: failover\n\tconfig: {}\n",
	"- id: failover\n  config: {priority: 7}\n",
	"\x00\xff\xfe",
}

// save writes a file of the profile as it is meant to be, or is not.
func save(dir, name, text string, mode os.FileMode) error {
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path+"~", []byte(text), mode); err != nil {
		return err
	}
	return os.Rename(path+"~", path)
}

// swap puts another file in the place of a plugin's, which runs the same: its end
// differs.
func swap(dir, name, program string, n int) error {
	b, err := os.ReadFile(program)
	if err != nil {
		return err
	}
	folder := filepath.Join(dir, profile.PluginsDir)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	return save(folder, name, string(fmt.Appendf(b, "%d", n)), 0o755)
}

// rogueModes are the ways in which the second plugin misbehaves.
var rogueModes = []string{"panic", "slow", "stuck", "flood", "hog", "frames"}
