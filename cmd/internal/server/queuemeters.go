package server

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"evoke/store"
)

// queueTakes is how long a look at the queue may take.
const queueTakes = 2 * time.Second

// queueCollector shows how the queue of extractions stands, of all tenants, as of now.
type queueCollector struct {
	stats  func(context.Context) (store.QueueStats, error)
	clock  func() time.Time
	failed prometheus.Counter

	threads, age *prometheus.Desc
}

// WatchQueue adds the queue's depth and age to the metrics. A nil clock is time.Now.
func (m *Meters) WatchQueue(stats func(context.Context) (store.QueueStats, error), clock func() time.Time) {
	if clock == nil {
		clock = time.Now
	}
	c := &queueCollector{
		stats: stats, clock: clock,
		failed:  prometheus.NewCounter(prometheus.CounterOpts{Namespace: "evoke", Name: "queue_errors_total", Help: "Looks at the queue of extractions that failed."}),
		threads: prometheus.NewDesc("evoke_queue_threads", "Conversations in the queue of extractions: all that wait, of them those that are due, and those being extracted.", []string{"state"}, nil),
		age:     prometheus.NewDesc("evoke_queue_age_seconds", "For how long the conversation that is due longest has been due; 0 when none is.", nil, nil),
	}
	m.registry.MustRegister(c, c.failed)
}

// Describe implements prometheus.Collector.
func (c *queueCollector) Describe(ch chan<- *prometheus.Desc) { ch <- c.threads; ch <- c.age }

// Collect implements prometheus.Collector. A look that fails shows nothing.
func (c *queueCollector) Collect(ch chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), queueTakes)
	defer cancel()
	st, err := c.stats(ctx)
	if err != nil {
		c.failed.Inc()
		return
	}
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	gauge(c.threads, float64(st.Waiting), "waiting")
	gauge(c.threads, float64(st.Due), "due")
	gauge(c.threads, float64(st.Leased), "leased")
	age := 0.0
	if st.Due > 0 && !st.Oldest.IsZero() {
		age = max(0, c.clock().Sub(st.Oldest).Seconds())
	}
	gauge(c.age, age)
}
