package trace

import "testing"

// Telemetry is off by default: only an address that is given turns it on, and an empty one is none.
func TestNothingIsSentUnlessACollectorIsNamed(t *testing.T) {
	for _, environ := range [][]string{nil, {"OTEL_EXPORTER_OTLP_ENDPOINT="}, {"OTEL_SERVICE_NAME=x", "EVOKE_LOG_LEVEL=debug"}} {
		tr, err := FromEnv(t.Context(), environ)
		if err != nil || tr.provider != nil {
			t.Errorf("%v: %+v, %v", environ, tr, err)
		}
		if err := tr.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
	tr, err := FromEnv(t.Context(), []string{"OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:1"})
	if err != nil || tr.provider == nil {
		t.Errorf("a collector is named: %+v, %v", tr, err)
	}
	if err := tr.provider.Shutdown(t.Context()); err != nil {
		t.Log(err)
	}
}
