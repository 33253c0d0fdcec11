package report

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"
)

// Run is on what and how was measured.
type Run struct {
	CPU     string `json:"cpu"`
	Cores   int    `json:"cores"`
	Kernel  string `json:"kernel"`
	Go      string `json:"go"`
	Commit  string `json:"commit"`
	Date    string `json:"date"`
	Command string `json:"command"`
}

// ThisRun describes this machine now. What cannot be found out stays "unknown".
func ThisRun(ctx context.Context, command string, now time.Time) Run {
	r := Run{
		CPU: "unknown", Cores: runtime.NumCPU(), Kernel: runtime.GOOS, Go: runtime.Version(), Commit: "unknown",
		Date: now.UTC().Format("2006-01-02 15:04 UTC"), Command: command,
	}
	info, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(info)) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == "model name" {
			r.CPU = strings.TrimSpace(value)
			break
		}
	}
	if release, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		r.Kernel = "Linux " + strings.TrimSpace(string(release))
	}
	if out, err := exec.CommandContext(ctx, "git", "describe", "--always", "--dirty").Output(); err == nil {
		r.Commit = strings.TrimSpace(string(out))
	}
	return r
}

func (r Run) String() string {
	return fmt.Sprintf("%s, %d cores, %s, %s, %s, commit %s", r.CPU, r.Cores, r.Kernel, r.Go, r.Date, r.Commit)
}
