// Package shell holds the tool run_terminal_cmd: a command of bash, run behind the walls of package sandbox in the tree
// of the effect (docs/spec/turn.md#tools-list).
//
// What a command does to the tree is not known from its text. Where the call asks for it, the tree is recorded before
// and after, and Undo goes back from one record to the other. After a crash nobody knows how far a command got; unless
// the call is declared idempotent, Done says so, and the command is never run again without a person's word
// (docs/spec/turn.md#s4-2).
package shell
