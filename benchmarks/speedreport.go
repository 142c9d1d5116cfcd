package benchmarks

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// WriteMarkdown writes the tables for people.
func (r *LatencyReport) WriteMarkdown(w io.Writer) error {
	var b strings.Builder
	b.WriteString(r.Machine.markdown())
	fmt.Fprintf(&b, "\nRecall over one scope through the façade, limit 10, model %s; ms. Resident memory, in MB, is that of the whole process, with the set and the model.\n\n", r.Model)
	b.WriteString("| items | n | given vector p50 | p95 | p99 | with encoder p50 | p95 | p99 | first call | resident |\n|---|---|---|---|---|---|---|---|---|---|\n")
	for _, s := range r.Sizes {
		fmt.Fprintf(&b, "| %d | %d | %.2f | %.2f | %.2f | %.1f | %.1f | %.1f | %.0f | %.0f |\n",
			s.Items, s.Given.N, s.Given.P50, s.Given.P95, s.Given.P99, s.Encoder.P50, s.Encoder.P95, s.Encoder.P99, s.Cold, s.Resident)
	}
	b.WriteString("\nThe made vectors against those of the set (cosines with the queries):\n\n| | set | made |\n|---|---|---|\n")
	for _, s := range r.Spectrum {
		fmt.Fprintf(&b, "| %s | %.3f | %.3f |\n", s.What, s.Set, s.Made)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// WriteJSON writes the report as JSON.
func (r *LatencyReport) WriteJSON(w io.Writer) error {
	return writeJSON(w, struct {
		Machine  Machine       `json:"machine"`
		Model    string        `json:"model"`
		Sizes    []LatencySize `json:"sizes"`
		Spectrum []SpectrumRow `json:"spectrum"`
	}{r.Machine, r.Model, r.Sizes, r.Spectrum})
}

// WriteMarkdown writes the figures for people.
func (r *IngestReport) WriteMarkdown(w io.Writer) error {
	_, err := fmt.Fprintf(w, "%s\nIngest of %d events of two short turns at %d a second, extraction and vectors (%s) beside: acknowledged in p50 %.1f / p95 %.1f / p99 %.1f ms; %d sent late. Afterwards vectors followed at %.0f turns a second.\n",
		r.Machine.markdown(), r.Ack.N, r.Rate, r.Model, r.Ack.P50, r.Ack.P95, r.Ack.P99, r.Late, r.VectorsPS)
	return err
}

// WriteJSON writes the report as JSON.
func (r *IngestReport) WriteJSON(w io.Writer) error {
	return writeJSON(w, struct {
		Machine   Machine   `json:"machine"`
		Model     string    `json:"model"`
		Rate      int       `json:"events_per_second"`
		Turns     int       `json:"turns"`
		Ack       Quantiles `json:"ack_ms"`
		Late      int       `json:"late"`
		VectorsPS float64   `json:"vectors_per_second"`
	}{r.Machine, r.Model, r.Rate, r.Turns, r.Ack, r.Late, r.VectorsPS})
}

func writeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}
