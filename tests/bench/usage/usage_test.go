package usage

import (
	"os"
	"os/exec"
	"runtime"
	"slices"
	"testing"
	"time"
)

func TestTree(t *testing.T) {
	child := exec.Command("cat") // ends when its input does
	in, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	defer child.Wait()
	defer in.Close()
	if runtime.GOOS != "linux" {
		return // no /proc
	}
	tree := Tree(os.Getpid())
	if !slices.Contains(tree, os.Getpid()) || !slices.Contains(tree, child.Process.Pid) {
		t.Errorf("got %v, want %d and %d among them", tree, os.Getpid(), child.Process.Pid)
	}
	if slices.Contains(tree, os.Getppid()) {
		t.Errorf("got %v with the parent", tree)
	}
	if u := Of(tree); u.RSS < 1<<20 {
		t.Errorf("got %d bytes resident", u.RSS)
	}
	if pss := PSS([]int{os.Getpid()}); pss < 1<<20 || pss > Of([]int{os.Getpid()}).RSS*2 {
		t.Errorf("got %d bytes in proportion", pss)
	}
	if got := Tree(1 << 30); len(got) != 0 {
		t.Errorf("no such process, got %v", got)
	}
}

func TestWatch(t *testing.T) {
	if runtime.GOOS != "linux" {
		return
	}
	busy, stop := Busy(), Watch(os.Getpid())
	for begin := Of([]int{os.Getpid()}).CPU; Of([]int{os.Getpid()}).CPU < begin+5*tick; {
	}
	spent := stop()
	if spent.CPU < 5*tick || spent.CPU > time.Minute || spent.RSSPeak < spent.RSSStart || spent.RSSStart == 0 {
		t.Errorf("got %+v", spent)
	}
	if d := Busy() - busy; d < spent.CPU/2 {
		t.Errorf("this process used %v, the whole machine %v", spent.CPU, d)
	}
	if got := Watch(0)(); got != (Spent{}) {
		t.Errorf("nobody used %+v", got)
	}
}
