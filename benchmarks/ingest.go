package benchmarks

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"evoke"
	"evoke/embed"
	"evoke/extract/message"
)

// IngestOptions of an ingest run. The zero value of a field means its default.
type IngestOptions struct {
	Rate     int           // events a second; default 100
	Events   int           // default 2000
	Vectors  time.Duration // how long the vectors' pace is watched afterwards; default 20 s
	Dir      string        // for the store; default a temporary folder
	Progress func(string)
}

// IngestReport is how fast conversations are taken in, with vectors and extraction going on beside.
type IngestReport struct {
	Machine   Machine
	Model     string
	Rate      int       // events a second that were sent
	Turns     int       // short turns in all, two an event
	Ack       Quantiles // from call to durable answer, ms
	Late      int       // events sent after their time because the one before took too long
	VectorsPS float64   // turns that got their vectors, a second, while nothing else was done
}

// RunIngest sends events of two short turns at a steady rate and then watches how fast the vectors follow.
func RunIngest(ctx context.Context, e embed.Embedder, s *Set, opts *IngestOptions) (r *IngestReport, err error) {
	o := IngestOptions{}
	if opts != nil {
		o = *opts
	}
	if o.Rate == 0 {
		o.Rate = 100
	}
	if o.Events == 0 {
		o.Events = 2000
	}
	if o.Vectors == 0 {
		o.Vectors = 20 * time.Second
	}
	if o.Progress == nil {
		o.Progress = func(string) {}
	}
	e = Uncached(e)
	turns := shortTurns(s)
	if len(turns) < 2 {
		return nil, fmt.Errorf("set %s has no short turns", s.Name)
	}
	dir, err := os.MkdirTemp(o.Dir, "evoke-ingest-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	m, err := evoke.Open(ctx, &evoke.Options{Path: dir, Embedder: e})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	r = &IngestReport{Machine: ThisMachine(ctx, time.Now()), Rate: o.Rate, Turns: 2 * o.Events}
	o.Progress(fmt.Sprintf("sending %d events at %d/s", o.Events, o.Rate))
	if err := r.send(ctx, m, turns, &o); err != nil {
		return nil, err
	}
	if e == nil {
		return r, nil
	}
	r.Model = e.Model().ID()
	o.Progress("watching vectors follow")
	r.VectorsPS, err = pace(ctx, m, o.Vectors)
	return r, err
}

func (r *IngestReport) send(ctx context.Context, m *evoke.Memory, turns []string, o *IngestOptions) error {
	var ms []float64
	start := time.Now()
	for i := range o.Events {
		due := start.Add(time.Duration(i) * time.Second / time.Duration(o.Rate))
		if d := time.Until(due); d > 0 {
			time.Sleep(d)
		} else if d < -time.Second/time.Duration(o.Rate) {
			r.Late++
		}
		began := time.Now()
		_, err := m.Ingest(ctx, evoke.IngestRequest{
			Who: evoke.Who{User: "ingest", Thread: fmt.Sprint("thread", i%50)},
			Messages: []message.Message{
				{Role: message.User, Content: turns[2*i%len(turns)]}, {Role: message.Assistant, Content: turns[(2*i+1)%len(turns)]},
			},
		})
		if err != nil {
			return fmt.Errorf("ingest: %w", err)
		}
		ms = append(ms, float64(time.Since(began).Microseconds())/1000)
	}
	r.Ack = quantiles(ms)
	return nil
}

// pace counts how many pending vectors are settled in a second.
func pace(ctx context.Context, m *evoke.Memory, d time.Duration) (float64, error) {
	pending := func() (int, error) {
		st, err := m.Stats(ctx, evoke.Who{User: "ingest"})
		return st.Pending.Vectors, err
	}
	began := time.Now()
	first, err := pending()
	if err != nil {
		return 0, err
	}
	left := first
	for left > 0 && time.Since(began) < d {
		time.Sleep(200 * time.Millisecond)
		if left, err = pending(); err != nil {
			return 0, err
		}
	}
	return float64(first-left) / time.Since(began).Seconds(), nil
}

// shortTurns are the set's texts of at most 200 bytes.
func shortTurns(s *Set) []string {
	var out []string
	for _, n := range s.Namespaces {
		for _, it := range n.Items {
			if len(it.Text) <= 200 {
				out = append(out, it.Text)
			}
		}
	}
	return out
}
