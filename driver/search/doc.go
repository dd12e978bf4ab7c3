// Package search holds the tools that look around in the workspace: list_dir, glob_file_search and grep
// (docs/spec/turn.md#tools-list). They read only, are idempotent, and see the workspace as a programmer does: what
// .gitignore excludes is left out, and .git and .pawl always are.
//
// The search is a walk of pawl's own rather than a call of rg or git grep. It behaves alike on every machine and in
// folders without git, it starts no process and so needs no walls, and it opens files only through package safeopen, so
// that no link and no race leads out of the workspace. To be no slower than it must, grep opens each file by its name
// from the open folder, and looks for the longest text that every match contains before it asks the expression
// (BenchmarkGrep). Files that are tracked by git although .gitignore names them are left out too, as rg does; the
// excludes outside the tree (.git/info/exclude, core.excludesFile) are not read. What a .pawlignore hides from agents
// is left out as well, and refused where it is named (package ignore).
package search
