// Package git is pawl's own use of git. It is the one place, with package sandbox, that starts processes, and it starts
// only git.
//
// A repository is hostile input: its configuration names programs that ordinary git commands run (filters, fsmonitor, hooks,
// textconv, merge drivers, pagers, signers). So nothing here runs with the user's configuration. Two kinds of call exist:
//
//   - shadow calls work in a git directory of pawl's own, .pawl/git, with a configuration of pawl's own, on index files of
//     pawl's own; only the object store is the user's, so that nothing is copied;
//   - plumbing calls (update-ref, show-ref, symbolic-ref, check-attr, worktree add) see the user's git directory, because
//     references live there, with hooks, fsmonitor, transports and lazy fetching switched off by the environment, which
//     outranks every file.
//
// Contents are never converted: what is in a file is what is in the blob, whatever .gitattributes says. Large-file pointers
// stay pointers, line ends stay as they are. Nested repositories and submodules are recorded if the index knows them and
// are never entered.
//
// A Memory answers without git what it can prove from the times and numbers that the file system keeps of every file; what
// it cannot prove, git is asked.
//
// The user's index is read through copies, and written only while pawl holds its lock (Checkout).
package git
