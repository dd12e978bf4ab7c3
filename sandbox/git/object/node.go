// Package object writes git's loose objects and references without starting git, as git itself would, and says by which
// id git knows a content. Git's own plumbing takes 5 to 8 times the processor time for the same, which is a process for
// each kind of object (BenchmarkLoose of package git); every command that changed a file would wait for it.
package object

// Node is what a tree says of a path. The zero node says that there is nothing.
type Node struct {
	Mode string // 100644 100755 120000 160000
	ID   string // of the content, or of the folder's own tree
}

// The modes of paths. A folder has one in a tree's own lines only; anything that is not a file, a symbolic link or a
// folder has one that git does not know.
const (
	ModeFile   = "100644"
	ModeExec   = "100755"
	ModeLink   = "120000"
	ModeNested = "160000" // a submodule or nested repository
	ModeDir    = "040000"
	ModeOther  = "other"
)

// Absent says that there is nothing.
func (n Node) Absent() bool { return n.Mode == "" }

// LongestLink bounds the target of a symbolic link, in bytes.
const LongestLink = 64 << 10
