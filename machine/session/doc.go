// Package session is the state of the worktree that a person sits in (seed 000): seven states and twelve triggers, and the
// five triggers that close the seed's gaps. Pausing is no state: a paused session keeps its state and carries a flag
// beside it (spec A1).
package session
