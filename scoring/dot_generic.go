//go:build !amd64

package scoring

func dotFloat(a, b []float32) float32 { return dotFloatScalar(a, b) }

func dotInt8(a, b []int8) int32 { return dotInt8Scalar(a, b) }

func scanInt8(query, rows []int8, dim int, out []int32) { scanInt8Scalar(query, rows, dim, out) }
