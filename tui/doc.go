// Package tui is the terminal at work: the prompt that reads a person's lines with editing, history and completion, and the
// board that shows a backlog live. Neither knows where its data comes from: the caller gives functions and values. What a
// key does and what a frame shows are pure (line, prompt, Board.Frame); only terminal, screen and the two Run methods touch
// the machine.
//
// Both draw by themselves, on golang.org/x/term. The libraries for it that were tried lose keys that are typed ahead of a
// command, and draw over the last line that the command wrote; a prompt stands or falls with these two.
package tui
