// Package session is the state of the worktree that a person sits in (docs/spec/session.md): seven states and twelve
// triggers, and the five triggers that close the seed's gaps. Pausing is no state: a paused session keeps its state and
// carries a flag beside it (docs/spec/session.md#a1).
package session
