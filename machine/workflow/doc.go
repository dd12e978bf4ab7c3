// Package workflow is the state of a running ~command (docs/spec/workflow.md): a machine for the stage, a machine for
// the mode, the variables that the seed keeps beside them, the table of the twelve commands, and the rules for commands
// that are typed while another one runs.
//
// Vars is a plain value. Every function takes one and returns a changed copy; on an error the copy equals the argument.
package workflow
