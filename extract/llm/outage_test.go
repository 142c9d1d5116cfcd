package llm_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"evoke/extract"
	"evoke/extract/llm"
	"evoke/extract/llm/llmtest"
	"evoke/extract/message"
	"evoke/store"
)

func chat(user, assistant string) []message.Message {
	return []message.Message{{Role: message.User, Content: user}, {Role: message.Assistant, Content: assistant}}
}

const private = "my diary says BLUEBIRD"

// Failures are told apart, tried again where that can help, and say nothing of the text.
func TestFailures(t *testing.T) {
	status := func(n int, fields map[string]any) func(http.ResponseWriter, *request) {
		return func(w http.ResponseWriter, r *request) { fail(w, r, n, fields) }
	}
	raw := func(text string) func(http.ResponseWriter, *request) {
		return func(w http.ResponseWriter, _ *request) { fmt.Fprint(w, text) }
	}
	for _, c := range []struct {
		name  string
		reply func(http.ResponseWriter, *request)
		want  error
		calls int
	}{
		{"wrong key", status(401, nil), extract.ErrService, 1},
		{"forbidden", status(403, nil), extract.ErrService, 1},
		{"no such model", status(404, map[string]any{"code": "model_not_found"}), extract.ErrService, 1},
		{"gone", status(410, nil), extract.ErrService, 1},
		{"refused in every way", status(400, nil), store.ErrInvalid, 5},
		{"refused in every way, numbers for codes", status(422, map[string]any{"code": 7, "param": "messages"}), store.ErrInvalid, 5},
		{"too long whatever the length", status(413, nil), store.ErrInvalid, 1},
		{"too many requests", status(429, nil), store.ErrUnavailable, 3},
		{"no such model, as a bad request", status(400, map[string]any{"code": "model_not_found"}), extract.ErrService, 1},
		{"quota used up", status(429, map[string]any{"code": "insufficient_quota"}), store.ErrUnavailable, 1},
		{"payment", status(402, nil), store.ErrUnavailable, 1},
		{"time out there", status(408, nil), store.ErrUnavailable, 3},
		{"error", status(500, nil), store.ErrUnavailable, 3},
		{"bad gateway in HTML", func(w http.ResponseWriter, _ *request) {
			w.WriteHeader(502)
			fmt.Fprint(w, "<html>"+private)
		}, store.ErrUnavailable, 3},
		{"overloaded", status(503, nil), store.ErrUnavailable, 3},
		{"overloaded, of its own", status(529, nil), store.ErrUnavailable, 3},
		{"a page", raw("<html>login</html>"), store.ErrUnavailable, 3},
		{"nothing", raw(""), store.ErrUnavailable, 3},
		{"half an answer", raw(`{"choices":[{"message":{"content":"{\"operations\":[`), store.ErrUnavailable, 3},
		{"an error with status 200", raw(`{"error":{"message":"overloaded"}}`), store.ErrUnavailable, 3},
		{"no choice", raw(`{"choices":[]}`), store.ErrUnavailable, 3},
		{"connection cut", func(http.ResponseWriter, *request) { panic(http.ErrAbortHandler) }, store.ErrUnavailable, 3},
		{"an answer without end", func(w http.ResponseWriter, _ *request) {
			for range 3000 {
				fmt.Fprint(w, strings.Repeat(" ", 1024))
			}
		}, store.ErrUnavailable, 3},
		{"no text", always(""), store.ErrUnavailable, 2},
		{"prose", always("I am sorry, I cannot do that. " + private), extract.ErrUnreadable, 2},
		{"an error as text", always(`{"error":"busy","operations":[]}`), extract.ErrUnreadable, 2},
		{"filtered", func(w http.ResponseWriter, _ *request) { finish(w, "", "content_filter") }, extract.ErrRefused, 1},
		{"filtered with a status", status(400, map[string]any{"code": "content_filter"}), extract.ErrRefused, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			var log logged
			x, s := open(t, c.reply, func(o *llm.Options) {
				o.Logger = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
			})
			b := batch("user: " + private)
			rep, err := x.Report(context.Background(), b)
			if !errors.Is(err, c.want) {
				t.Fatalf("%v, want %v", err, c.want)
			}
			if ops, err := x.Extract(context.Background(), b); ops != nil || !errors.Is(err, c.want) {
				t.Errorf("%v, %v", ops, err)
			}
			if n := len(s.Requests()); n != 2*c.calls || x.Stats().Calls != n || rep.Usage.Calls != c.calls {
				t.Errorf("%d calls, counted %d and %d", n, x.Stats().Calls, rep.Usage.Calls)
			}
			for _, secret := range []string{"BLUEBIRD", secretKey} {
				if strings.Contains(err.Error(), secret) || strings.Contains(log.b.String(), secret) {
					t.Errorf("tells %s: %v\n%s", secret, err, log.b.String())
				}
			}
			var f *llm.Failure
			if errors.As(err, &f) && f.Permanent() != errors.Is(err, store.ErrInvalid) {
				t.Errorf("%+v", f)
			}
			if errors.Is(c.want, extract.ErrUnreadable) && errors.Is(err, store.ErrUnavailable) {
				t.Error("what was answered is not an outage")
			}
		})
	}
}

func TestNoService(t *testing.T) {
	x, err := llm.New("m", &llm.Options{BaseURL: "http://127.0.0.1:1/v1", Pause: 1, Retries: 1})
	if err != nil {
		t.Fatal(err)
	}
	rep, err := x.Report(context.Background(), batch("user: hi"))
	if !errors.Is(err, store.ErrUnavailable) || rep.Usage.Calls != 2 {
		t.Errorf("%v, %+v", err, rep.Usage)
	}
}

func TestRetries(t *testing.T) {
	x, _ := open(t, func(w http.ResponseWriter, r *request) {
		if r.Try == 1 {
			w.Header().Set("Retry-After-Ms", "60")
			fail(w, r, 429, nil)
			return
		}
		say(w, answer())
	}, nil)
	start := time.Now()
	rep := run(t, x, batch("user: hi"))
	if d := time.Since(start); d < 60*time.Millisecond || rep.Usage.Calls != 2 || x.Stats().Retries != 1 || x.Stats().Failures != 1 {
		t.Errorf("%v %+v", d, x.Stats())
	}
	for _, after := range []string{"3600", time.Now().Add(time.Hour).UTC().Format(http.TimeFormat)} {
		x, s := open(t, func(w http.ResponseWriter, r *request) {
			w.Header().Set("Retry-After", after)
			fail(w, r, 429, nil)
		}, nil)
		_, err := x.Extract(context.Background(), batch("user: hi"))
		var f *llm.Failure
		if !errors.As(err, &f) || f.RetryAfter() < 59*time.Minute || f.Status != 429 || len(s.Requests()) != 1 {
			t.Errorf("%v after %d calls", err, len(s.Requests()))
		}
	}
	// A pause that would outlast the caller is not begun.
	x, s := open(t, func(w http.ResponseWriter, r *request) {
		w.Header().Set("Retry-After", "10")
		fail(w, r, 503, nil)
	}, nil)
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	start = time.Now()
	if _, err := x.Extract(ctx, batch("user: hi")); !errors.Is(err, store.ErrUnavailable) || time.Since(start) > 4*time.Second || len(s.Requests()) != 1 {
		t.Errorf("%v", err)
	}
}

func TestStall(t *testing.T) {
	release := make(chan struct{})
	x, s := open(t, func(http.ResponseWriter, *request) { <-release }, func(o *llm.Options) { o.Timeout, o.Retries = 50*time.Millisecond, 1 })
	defer close(release)
	_, err := x.Extract(context.Background(), batch("user: hi"))
	if !errors.Is(err, store.ErrUnavailable) || errors.Is(err, context.DeadlineExceeded) || len(s.Requests()) != 2 {
		t.Errorf("%v after %d", err, len(s.Requests()))
	}
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(20*time.Millisecond, cancel)
	if _, err := x.Extract(ctx, batch("user: hi")); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := x.Extract(ctx, batch("user: hi")); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// A service that is asked in a way it does not know is asked otherwise, and the way that it knows is remembered.
func TestDialects(t *testing.T) {
	param := func(p string) map[string]any { return map[string]any{"param": p} }
	for _, c := range []struct {
		name   string
		knows  func(r *request) (bool, map[string]any)
		calls  int
		format llm.Format
	}{
		{"no schema", func(r *request) (bool, map[string]any) { return r.Format() != "json_schema", nil }, 2, llm.Object},
		{"no schema, by name", func(r *request) (bool, map[string]any) {
			return r.Format() != "json_schema", param("response_format.json_schema")
		}, 2, llm.Object},
		{"no format", func(r *request) (bool, map[string]any) { return r.Format() == "plain", nil }, 3, llm.Plain},
		{"another cap", func(r *request) (bool, map[string]any) { return r.MaxCompletionTokens == 4096, param("max_tokens") }, 2, llm.Schema},
		{"another cap, not by name", func(r *request) (bool, map[string]any) { return r.MaxCompletionTokens == 4096, nil }, 4, llm.Plain},
		{"no temperature", func(r *request) (bool, map[string]any) { return r.Temperature == nil, param("temperature") }, 2, llm.Schema},
		{"nothing of it", func(r *request) (bool, map[string]any) {
			return r.Format() == "plain" && r.Temperature == nil && r.MaxTokens == 0, nil
		}, 5, llm.Plain},
	} {
		x, s := open(t, func(w http.ResponseWriter, r *request) {
			if ok, fields := c.knows(r); !ok {
				fail(w, r, 400, fields)
				return
			}
			say(w, answer(fact("t1", "tea", "The user likes tea")))
		}, nil)
		for i := range 3 {
			if rep := run(t, x, batch("user: I like tea")); len(rep.Operations) != 1 {
				t.Errorf("%s: %+v", c.name, rep)
			}
			if n := len(s.Requests()); n != c.calls+i || x.Format() != c.format {
				t.Errorf("%s: %d calls, format %d", c.name, n, x.Format())
			}
		}
	}
	// A refusal of everything teaches nothing.
	refuse := true
	x, s := open(t, func(w http.ResponseWriter, r *request) {
		if refuse {
			fail(w, r, 400, nil)
			return
		}
		say(w, answer())
	}, func(o *llm.Options) { o.Format = llm.Object })
	if _, err := x.Extract(context.Background(), batch("user: hi")); !errors.Is(err, store.ErrInvalid) || x.Format() != llm.Object || len(s.Requests()) != 4 {
		t.Error(err, len(s.Requests()))
	}
	refuse = false
	if _, err := x.Extract(context.Background(), batch("user: hi")); err != nil {
		t.Error(err)
	}
}

// The client library refuses what reasoning models do not take; they are not asked for it.
func TestReasoningModels(t *testing.T) {
	s := llmtest.Start(t, always(answer()))
	for _, model := range []string{"o3-mini", "gpt-5-nano"} {
		x, err := llm.New(model, &llm.Options{BaseURL: s.URL, HTTPClient: s.Client})
		if err != nil {
			t.Fatal(err)
		}
		run(t, x, batch("user: hi"))
	}
	for _, r := range s.Requests() {
		if r.MaxTokens != 0 || r.MaxCompletionTokens != 4096 || r.Temperature != nil {
			t.Errorf("%+v", r)
		}
	}
}

// A service that does not tell what it took is estimated, so that budgets hold for it, too.
func TestUsageThatIsNotTold(t *testing.T) {
	var told extract.Usage
	x, _ := open(t, llmtest.Raw(`{"choices":[{"finish_reason":"stop","message":{"content":"{\"operations\":[]}"}}]}`), func(o *llm.Options) {
		o.Gate = func(context.Context, llm.Call) (func(extract.Usage), error) {
			return func(u extract.Usage) { told = u }, nil
		}
	})
	rep := run(t, x, batch("user: hi"))
	if rep.Usage.PromptTokens < 1500 || rep.Usage.CompletionTokens < 5 || rep.Usage != told || x.Stats().PromptTokens != told.PromptTokens {
		t.Errorf("%+v, told %+v", rep.Usage, told)
	}
}

func TestOtherPlacesForTheAnswer(t *testing.T) {
	for name, text := range map[string]string{
		"tool call": `{"choices":[{"finish_reason":"tool_calls","message":{"role":"assistant","tool_calls":[{"type":"function","function":{"name":"x","arguments":"{\"operations\":[]}"}}]}}]}`,
		"null":      `{"choices":[{"finish_reason":null,"message":{"role":"assistant","content":"{\"operations\":[]}"}}],"usage":null}`,
	} {
		x, _ := open(t, func(w http.ResponseWriter, _ *request) { fmt.Fprint(w, text) }, nil)
		if _, err := x.Extract(context.Background(), batch("user: hi")); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	x, s := open(t, func(w http.ResponseWriter, r *request) {
		if r.Try == 1 {
			fmt.Fprint(w, `{"choices":[{"finish_reason":"stop","message":{"role":"assistant","refusal":"no"}}]}`)
			return
		}
		say(w, answer())
	}, nil)
	if rep := run(t, x, batch("user: hi", "user: there")); len(s.Requests()) != 3 || len(rep.Rejected) != 0 {
		t.Errorf("%d %+v", len(s.Requests()), rep)
	}
}

func TestGate(t *testing.T) {
	stop := errors.New("budget")
	var asked []int
	var took []extract.Usage
	x, s := open(t, always("?"), func(o *llm.Options) {
		o.CountTokens = func(s string) int { return len(s) / 4 }
		o.Gate = func(_ context.Context, c llm.Call) (func(extract.Usage), error) {
			if c.Scope.Tenant != "acme" || c.Nth != len(asked)+1 {
				t.Errorf("%+v", c)
			}
			if asked = append(asked, c.Tokens); len(asked) > 1 {
				return nil, stop
			}
			return func(u extract.Usage) { took = append(took, u) }, nil
		}
	})
	rep, err := x.Report(context.Background(), batch("user: hi"))
	if !errors.Is(err, stop) || len(s.Requests()) != 1 {
		t.Error(err)
	}
	if d := cmp.Diff(extract.Usage{Calls: 1, PromptTokens: 100, CompletionTokens: 10}, rep.Usage); d != "" || asked[0] < 4096 || asked[0] > 12_000 {
		t.Error(d, asked)
	}
	if d := cmp.Diff([]extract.Usage{rep.Usage}, took); d != "" {
		t.Error(d)
	}
}
