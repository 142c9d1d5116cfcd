// Package benchmarks measures the engine through its public façade: recall quality on labelled sets, and latency at
// several sizes. Every report names the machine, the commit, the sample sizes and 95 % confidence intervals, and
// compares systems within one run.
package benchmarks
