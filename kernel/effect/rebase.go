package effect

// KindRebase brings verified work onto what its branch has become meanwhile: RebaseSpec → RebaseResult. It may be
// repeated.
const KindRebase Kind = "rebase"

// RebaseSpec asks for the work in a task's own worktree to be brought onto the head of its branch.
type RebaseSpec struct {
	Branch string `json:"branch"` // branch that the work is to land on, "" where there is none
	Base   string `json:"base"`   // commit that the work started from, which the worktree stands at
	Tree   string `json:"tree"`   // recorded tree of the work; anything else in the worktree is refused
}

// RebaseResult says what the worktree holds now.
type RebaseResult struct {
	// Base is the commit that the worktree stands at now, and Tree its content: what is to be verified and landed next.
	// Both are as in the spec where the branch did not move, and where there are conflicts.
	Base string `json:"base"`
	Tree string `json:"tree"`
	// Onto is the head of the branch that the work was merged with, "" where it did not move.
	Onto string `json:"onto,omitempty"`
	// Conflicts are the places at which work and branch changed the same, in the order of paths. With any, nothing was
	// changed.
	Conflicts []Conflict `json:"conflicts,omitempty"`
	// Moved says that the branch is at another commit than the work started from.
	Moved bool `json:"moved"`
}

// Conflict is a path that cannot be merged without a decision.
type Conflict struct {
	Path string       `json:"path"`
	Kind ConflictKind `json:"kind"`
	// Detail is technical text: what git says of the conflict, and of a text the places with their markers, the branch
	// first, then base and work. It is at most a few KiB, and "" behind the first few conflicts.
	Detail string `json:"detail,omitempty"`
}

// ConflictKind says what is in conflict.
type ConflictKind string

// The kinds of conflict.
const (
	ConflictContent      ConflictKind = "content"       // both changed the same lines
	ConflictBinary       ConflictKind = "binary"        // both changed a file that is no text
	ConflictAdded        ConflictKind = "added"         // both added a file, with different contents
	ConflictDeletedThere ConflictKind = "deleted_there" // the branch deleted what the work changed
	ConflictDeletedHere  ConflictKind = "deleted_here"  // the work deleted what the branch changed
	// one renamed a file or folder, and the other did something else with it
	ConflictRenamed ConflictKind = "renamed"
	ConflictMode    ConflictKind = "mode"      // both set different permissions
	ConflictType    ConflictKind = "type"      // a file here and a folder or link there
	ConflictModule  ConflictKind = "submodule" // both moved a submodule
	// an ignored file of the worktree stands where the branch has a new one
	ConflictInTheWay ConflictKind = "in_the_way"
)
