package telemetry

// For tests of the bounds.
const (
	MaxQueue = maxQueue
	MaxBatch = maxBatch
)
