package server

import (
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"evoke"
	"evoke/store"
)

// Meters are the server's metrics, on a registry of their own. No label holds a user or anything said; tenants are named
// by what their language models took, and by nothing else.
type Meters struct {
	registry *prometheus.Registry
	stages   *stageMeters

	requests *prometheus.CounterVec
	latency  *prometheus.HistogramVec
	inFlight prometheus.Gauge
	panics   prometheus.Counter

	turns, dropped, facts, vectors prometheus.Counter
	extractions, redacted          *prometheus.CounterVec
	recalls                        *prometheus.CounterVec
	recallSeconds                  prometheus.Histogram
}

var buckets = []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30}

// NewMeters makes and registers them.
func NewMeters() *Meters {
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Namespace: "evoke", Name: name, Help: help})
	}
	counters := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "evoke", Name: name, Help: help}, labels)
	}
	m := &Meters{
		registry: prometheus.NewRegistry(),
		stages:   newStageMeters(counters),
		requests: counters("http_requests_total", "Requests answered.", "method", "route", "status"),
		latency: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Namespace: "evoke", Name: "http_request_seconds", Help: "Time to answer a request.", Buckets: buckets}, []string{"route"}),
		inFlight:    prometheus.NewGauge(prometheus.GaugeOpts{Namespace: "evoke", Name: "http_requests_in_flight", Help: "Requests being answered."}),
		panics:      counter("http_panics_total", "Requests that ended in a recovered panic."),
		turns:       counter("turns_total", "Turns kept."),
		dropped:     counter("messages_dropped_total", "Messages that were not kept as turns."),
		facts:       counter("facts_total", "Facts distilled and stored."),
		vectors:     counter("vectors_total", "Items whose vectors were computed."),
		extractions: counters("extractions_total", "Conversations distilled, by how it ended.", "state"),
		redacted:    counters("redacted_total", "Finds of personal data and secrets in writes, masked or refused, by kind.", "kind"),
		recalls:     counters("recalls_total", "Recalls answered, by whether an arm failed.", "degraded"),
		recallSeconds: prometheus.NewHistogram(prometheus.HistogramOpts{
			Namespace: "evoke", Name: "recall_seconds", Help: "Time of a recall within the engine.", Buckets: buckets}),
	}
	build := prometheus.NewGaugeVec(prometheus.GaugeOpts{Namespace: "evoke", Name: "build_info", Help: "1, with the version as label."}, []string{"version"})
	build.WithLabelValues(evoke.Version).Set(1)
	m.registry.MustRegister(m.requests, m.latency, m.inFlight, m.panics, m.turns, m.dropped, m.facts, m.vectors, m.extractions, m.redacted, m.recalls,
		m.recallSeconds, build, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m.registry.MustRegister(m.stages.collectors()...)
	for _, s := range []store.EventState{store.EventStored, store.EventNothing, store.EventDead, store.EventQuarantined} {
		m.extractions.WithLabelValues(string(s)) // zeros are shown, too
	}
	return m
}

// Events are the hooks that feed the meters.
func (m *Meters) Events() *evoke.Events {
	return &evoke.Events{
		Ingested: func(turns, dropped int) { m.turns.Add(float64(turns)); m.dropped.Add(float64(dropped)) },
		Extracted: func(facts int, state store.EventState) {
			m.facts.Add(float64(facts))
			m.extractions.WithLabelValues(string(state)).Inc()
		},
		Stage:    m.stages.stage,
		Embedded: func(items int) { m.vectors.Add(float64(items)) },
		Redacted: func(kind string, n int) { m.redacted.WithLabelValues(kind).Add(float64(n)) },
		Recalled: func(took time.Duration, _ int, degraded bool) {
			m.recalls.WithLabelValues(strconv.FormatBool(degraded)).Inc()
			m.recallSeconds.Observe(took.Seconds())
		},
	}
}

func (m *Meters) request(method, route string, status int, took time.Duration) {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPatch, http.MethodDelete, http.MethodPut, http.MethodOptions:
	default:
		method = "other" // a caller must not be able to make series
	}
	m.requests.WithLabelValues(method, route, strconv.Itoa(status)).Inc()
	m.latency.WithLabelValues(route).Observe(took.Seconds())
}

func (m *Meters) handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{MaxRequestsInFlight: 4, Timeout: 10 * time.Second})
}
