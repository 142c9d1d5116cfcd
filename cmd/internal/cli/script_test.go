package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"evoke/cmd/internal/cli"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"evoke": func() {
			os.Exit(cli.Main(context.Background(), cli.Process{
				Args: os.Args[1:], Environ: os.Environ(), In: os.Stdin, Out: os.Stdout, Err: os.Stderr,
			}))
		},
	})
}

// TestScripts runs the transcripts of testdata/script: the command line as people and programs use it.
func TestScripts(t *testing.T) {
	scripts := []string{"testdata/script/*.txtar"}
	if testing.Short() { // with the race detector: those in which commands meet others or a server's threads
		scripts = []string{"testdata/script/ingest.txtar", "testdata/script/queue.txtar", "testdata/script/keys.txtar", "testdata/script/operations.txtar"}
	}
	var files []string
	for _, pattern := range scripts {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: %d scripts, %v", pattern, len(found), err)
		}
		files = append(files, found...)
	}
	testscript.Run(t, testscript.Params{
		Files: files,
		Setup: func(e *testscript.Env) error {
			// Data, settings and models of the script's own; no model, so that every machine shows the same.
			for name, dir := range map[string]string{"XDG_DATA_HOME": "data", "XDG_CONFIG_HOME": "conf", "XDG_CACHE_HOME": "cache", "HOME": "home"} {
				e.Setenv(name, e.WorkDir+"/"+dir)
			}
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"exits": exits, "field": field, "write": write,
		},
	})
}

// exits runs a command that must end with a given exit code, and with one line on standard error.
// usage: exits CODE COMMAND…
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND…")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	code := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%v", err)
		}
		code = exit.ExitCode()
	}
	if code != want {
		ts.Fatalf("exit code %d, want %d", code, want)
	}
}

// field puts a field of the JSON on standard output of the last command into a variable.
// usage: field VARIABLE NAME…
func field(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: field VARIABLE NAME…")
	}
	var v any
	ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &v))
	for _, name := range args[1:] {
		switch in := v.(type) {
		case map[string]any:
			v = in[name]
		case []any:
			i, err := strconv.Atoi(name)
			ts.Check(err)
			if i >= len(in) {
				ts.Fatalf("only %d entries", len(in))
			}
			v = in[i]
		default:
			ts.Fatalf("no %s in it", name)
		}
	}
	s, ok := v.(string)
	if !ok {
		b, err := json.Marshal(v)
		ts.Check(err)
		s = string(b)
	}
	ts.Setenv(args[0], s)
}

// write makes a file of N copies of a text; "\xNN" and "\n" are read as Go does.
// usage: write FILE N TEXT
func write(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: write FILE N TEXT")
	}
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	text, err := strconv.Unquote("\"" + args[2] + "\"")
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), bytes.Repeat([]byte(text), n), 0o600))
}
