// Package kernel decides and commits. Decide is a pure function from a snapshot of the store, a command and an instant to
// a decision: which rows change, by which rows of the published tables, with which records, and which effects are to
// happen. Do loads the snapshot, decides, seals the records and commits everything in one transaction; only then does a
// caller learn of it and only then may anything act on it (ARCHITECTURE.md, "Decide, commit, act, report").
//
// The same Decide serves production, the crash sweeps, the exploration of the joint machine and the dry run.
package kernel
