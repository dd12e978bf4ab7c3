// Package verify finds out how a project checks itself and runs those checks. It holds three drivers: Context, which
// describes a workspace for planning; Verify, which runs the checks of a turn; and Gates, which runs the gates of a
// task (docs/spec/task.md#gates and docs/spec/task.md#d19). What they record is the only evidence that anything is ever
// called verified on: command, exit status, digest of the output, digest of the environment, and the tree before and
// after.
//
// The package never starts a process itself. Commands go through a Runner, which package sandbox provides, without a
// network and with caches of the workspace's own (docs/verification.md).
package verify
