// Package task is the lifecycle of one unit of work (docs/spec/task.md): ten states, the transitions T1 to T20, the
// gates at the entrances of states, and the reason for each of the 72 moves that are refused.
//
// A task is committed in one of the ten states; while it runs, its finer state is that of its turn (package turn).
// Being in a state already is no move: all ten such calls are idempotent (Same), of which the seed lists T19 and T20.
package task
