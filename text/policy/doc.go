// Package policy decides what a tool call may do. It is a pure function over a parsed request and a profile: Judge
// reads no file, no clock and no environment, keeps no state, starts nothing, and may be called from any number of
// goroutines. It answers Allow, Ask (with the widest scope that a yes may have) or Deny, each with a fine code and a
// reason for people.
//
// A shell command is parsed into its syntax tree and every simple command in it is judged on its own, wherever it
// stands: in lists, pipes, substitutions, functions, loops, heredocs, behind wrappers such as env or timeout, and
// inside bash -c. What package shell, which takes the text apart, cannot resolve to literal words is never allowed, and
// a text that bash may read otherwise is refused. The worst finding decides, so no number of harmless commands weakens
// a refusal.
//
// Dangers is a second question about a command: what it would do that nobody can take back. It is answered from the
// same calls and tables, and does not depend on a profile, because triage asks it of plans before anything is
// decided.
//
// Policy is the first floor. The sandbox is the boundary: what is allowed here still runs behind walls, and what is
// denied here the walls refuse as well. The rules follow docs/spec/turn.md#s4, docs/spec/turn.md#policy,
// docs/spec/workflow.md#ehrb and docs/spec/turn.md#b11.
package policy
