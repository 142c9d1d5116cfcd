package benchmarks

import (
	"context"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"evoke/embed"
)

// Machine says where and on what a report was made.
type Machine struct {
	CPU    string `json:"cpu"`
	Cores  int    `json:"cores"`
	OS     string `json:"os"`
	Go     string `json:"go"`
	Commit string `json:"commit"` // with "+" when the work tree differs from it
	Date   string `json:"date"`
	Load   string `json:"load,omitempty"` // the system's load averages at the start, where it tells
}

// ThisMachine describes the machine and the source.
func ThisMachine(ctx context.Context, now time.Time) Machine {
	m := Machine{CPU: runtime.GOARCH, Cores: runtime.GOMAXPROCS(0), OS: runtime.GOOS + "/" + runtime.GOARCH, Go: runtime.Version(),
		Commit: commit(ctx), Date: now.UTC().Format(time.DateOnly)}
	if b, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.Lines(string(b)) {
			if k, v, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(k) == "model name" {
				m.CPU = strings.TrimSpace(v)
				break
			}
		}
	}
	if b, err := os.ReadFile("/proc/loadavg"); err == nil {
		m.Load = strings.Join(strings.Fields(string(b))[:3], " ")
	}
	return m
}

// Uncached is the embedder behind any caches: a measurement must not be answered from memory.
func Uncached(e embed.Embedder) embed.Embedder {
	for {
		w, ok := e.(interface{ Unwrap() embed.Embedder })
		if !ok {
			return e
		}
		e = w.Unwrap()
	}
}

func commit(ctx context.Context) string {
	git := func(args ...string) (string, bool) {
		out, err := exec.CommandContext(ctx, "git", args...).Output()
		return strings.TrimSpace(string(out)), err == nil
	}
	if head, ok := git("rev-parse", "--short=12", "HEAD"); ok {
		if changes, ok := git("status", "--porcelain", "--untracked-files=no"); ok && changes != "" {
			head += "+"
		}
		return head
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				return s.Value
			}
		}
	}
	return "unknown"
}
