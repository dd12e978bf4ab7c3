package view

import "time"

// Kept is what may not be retired of what runs leave beside their results.
type Kept struct {
	// Open are the labels of the runs, and of the tasks outside runs, that have not ended.
	Open []string
	// Needs are what they stand on, and what the newest runs do: the ids of trees, commits and effects, and the labels
	// of checkpoints.
	Needs map[string]bool
	// Since is when the oldest of the newest runs began, the zero time where all are among them.
	Since time.Time
}
