// Package replay records the decisions of a run with everything that they were made from, and makes them again. Because
// kernel.Decide is pure, a decision that comes out differently tells of something else than the recording: other
// settings, or another program.
//
// A recording is a file of JSON documents, one decision a line. A line holds the instant, the command with the word on
// which it was given, every row of the snapshot, what the configuration was, and the decision: its moves with the
// rules, its records, the effects that it asked for, the rows that it wrote and its answer. A document that an earlier
// line of the same recorder holds is named by its digest alone.
//
// Secrets are taken out of every text before it is written. The decision of a line from which something was taken out
// is made again on what is left, and that is what the line then keeps, provided that its moves, records and effects are
// the same: so a replay compares like with like, and a digest that covers a secret does not stand for a difference.
// Where they are not the same the line says that it cannot be repeated.
package replay
