package server

import (
	"context"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"evoke/cmd/internal/wire"
	"evoke/store"
)

// How long a count stands, and how long one may take: it reads every memory, and scrapers ask often.
const (
	loadStands = 30 * time.Second
	loadTakes  = 5 * time.Second
)

// loadCollector shows what the engine holds and waits for.
type loadCollector struct {
	load   func(context.Context) (wire.Load, error)
	failed prometheus.Counter

	items, bytes, vectors, threads, events *prometheus.Desc

	mu    sync.Mutex
	at    time.Time
	known bool
	last  wire.Load
}

// WatchLoad adds the engine's load to the metrics.
func (m *Meters) WatchLoad(load func(context.Context) (wire.Load, error)) {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc("evoke_"+name, help, labels, nil)
	}
	c := &loadCollector{
		load:    load,
		failed:  prometheus.NewCounter(prometheus.CounterOpts{Namespace: "evoke", Name: "load_errors_total", Help: "Counts of items and queues that failed."}),
		items:   desc("items", "Items stored, all versions.", "kind"),
		bytes:   desc("stored_bytes", "Size of contents and vectors."),
		vectors: desc("pending_vectors", "Items that wait for their vectors."),
		threads: desc("pending_threads", "Conversations that wait for extraction."),
		events:  desc("events", "Ingested batches, by where they stand.", "state"),
	}
	m.registry.MustRegister(c, c.failed)
}

// Describe implements prometheus.Collector.
func (c *loadCollector) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{c.items, c.bytes, c.vectors, c.threads, c.events} {
		ch <- d
	}
}

// Collect implements prometheus.Collector. When the count fails the last one stands; without one nothing is shown.
func (c *loadCollector) Collect(ch chan<- prometheus.Metric) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.known || time.Since(c.at) > loadStands {
		ctx, cancel := context.WithTimeout(context.Background(), loadTakes)
		defer cancel()
		l, err := c.load(ctx)
		if c.at = time.Now(); err != nil {
			c.failed.Inc()
		} else {
			c.last, c.known = l, true
		}
	}
	if !c.known {
		return
	}
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	for _, k := range store.Kinds() {
		gauge(c.items, float64(c.last.Items[k]), string(k))
	}
	gauge(c.bytes, float64(c.last.Bytes))
	gauge(c.vectors, float64(c.last.PendingVectors))
	gauge(c.threads, float64(c.last.PendingThreads))
	for _, s := range []store.EventState{store.EventPending, store.EventStored, store.EventNothing, store.EventDead, store.EventQuarantined} {
		gauge(c.events, float64(c.last.Events[s]), string(s))
	}
}
