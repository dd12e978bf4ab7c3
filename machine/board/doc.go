// Package board is the batch of issues (docs/spec/board.md): the run and its phase, the issue with the regions beside
// its state, and the queue item, as small machines, and the validation of an exported state.json. The seed names states
// and actions and prints the run's way; the ways of issues and items follow the order in which it lists their states,
// and everything beyond that is marked as added.
package board
