package effect

import (
	"crypto/sha256"
	"encoding/hex"
	"time"
)

// Document is a text file below .pawl that an order writes. Everything about it is decided before: what it is to say,
// and what it said when that was decided. A file that says something else by then is somebody else's change, and the
// order is refused before anything of it is written.
type Document struct {
	Path    string `json:"path"` // relative to .pawl, with slashes
	Content string `json:"content"`
	Was     string `json:"was,omitempty"` // sha256 of the old content, "" for a file that was not there
}

// NewDocument decides what a file is to say. Had says whether there was one, and old what it said.
func NewDocument(path, content string, old []byte, had bool) Document {
	d := Document{Path: path, Content: content}
	if had {
		d.Was = Digest(old)
	}
	return d
}

// Digest is the sha256 of a content, in hexadecimal digits.
func Digest(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// KnowledgeSpec is the spec of KindKnowledge: documents of the knowledge base to write and, before them, an older one
// to take over.
type KnowledgeSpec struct {
	Takeover *Takeover  `json:"takeover,omitempty"`
	Files    []Document `json:"files,omitempty"`
}

// Takeover copies an older knowledge base into pawl's. The old one stays, and is copied as a whole before anything
// else.
type Takeover struct {
	// Folder is the old folder and Backup the name of its copy, which does not exist, both relative to the workspace.
	// All are the files that go into the copy, relative to Folder.
	Folder string   `json:"folder"`
	Backup string   `json:"backup"`
	All    []string `json:"all"`
	Copies []Copied `json:"copies"`
}

// Copied is a file to copy: From relative to the old folder, To relative to .pawl, which does not exist, and the sha256
// of what it says.
type Copied struct {
	From   string `json:"from"`
	To     string `json:"to"`
	Digest string `json:"digest"`
}

// KnowledgeResult names what was written, relative to .pawl, and the copy that was made before.
type KnowledgeResult struct {
	Written []string `json:"written"`
	Backup  string   `json:"backup,omitempty"`
}

// PackageSpec is the spec of KindPackage: a solution package to make in .pawl/plan. Its name is free, and files are
// relative to its folder.
type PackageSpec struct {
	Name  string            `json:"name"`
	Files map[string]string `json:"files"`
}

// PackageResult is the folder of the package, relative to .pawl.
type PackageResult struct {
	Dir string `json:"dir"`
}

// RetireSpec is the spec of KindRetire: packages that go from .pawl/plan into the archive, and the archive's index as
// it is to be afterwards. The package of a run that is undone comes back the same way; the index stays then.
type RetireSpec struct {
	Packages []Retired `json:"packages"`
	Index    Document  `json:"index"`
}

// Retired is one package on its way into the archive. The folder To does not exist.
type Retired struct {
	From string `json:"from"` // folders relative to .pawl
	To   string `json:"to"`
	// Tasks is the package's tasks.md, in From, as it is to be afterwards; without a path there is nothing to change.
	Tasks  Document `json:"tasks"`
	Result string   `json:"result"`
}

// RetireResult names the folders in the archive.
type RetireResult struct {
	Archived []string `json:"archived"`
}

// CommitBy is who a commit is by.
type CommitBy struct {
	Name  string `json:"name"`
	Email string `json:"email"`
}

// CommitSpec is the spec of KindCommit: a commit of the user's own changes or, with Push and without a Tree, the
// sharing of the branch as it is.
type CommitSpec struct {
	Branch string `json:"branch"`
	// Parent is the commit that the branch is at, "" before the first one; From is its tree.
	Parent string `json:"parent,omitempty"`
	From   string `json:"from,omitempty"`
	// Tree is what is committed. All says that it is the tree of the files as they are, so that the index follows it;
	// otherwise it is the tree of the index, which stays as it is.
	Tree    string    `json:"tree,omitempty"`
	All     bool      `json:"all,omitempty"`
	Message string    `json:"message,omitempty"`
	By      CommitBy  `json:"by"`
	At      time.Time `json:"at"` // author and committer date, so that the same commit has the same id
	Push    *Push     `json:"push,omitempty"`
}

// Push says where a branch is shared.
type Push struct {
	Remote string `json:"remote"`
	Ref    string `json:"ref"` // in full, as the remote knows it
}

// CommitResult says what was committed, or where the branch is by now.
type CommitResult struct {
	Commit string     `json:"commit"`
	Branch string     `json:"branch"`
	Files  []FileStat `json:"files,omitempty"`
	Pushed bool       `json:"pushed,omitempty"`
	// Rebased counts the commits that were put on top of what others pushed.
	Rebased int `json:"rebased,omitempty"`
}

// RewindSpec is the spec of KindRewind: a commit on top of the branch that brings the files back to what they were at
// an older one. Nothing is taken out of the history, and a branch keeps what was given up.
type RewindSpec struct {
	Branch  string    `json:"branch"`
	Head    string    `json:"head"` // commit that the branch is at, and From its tree
	From    string    `json:"from"`
	Target  string    `json:"target"` // commit to go back to, and Tree its tree
	Tree    string    `json:"tree"`
	Backup  string    `json:"backup"` // short name of the branch that keeps Head
	Message string    `json:"message"`
	By      CommitBy  `json:"by"`
	At      time.Time `json:"at"`
	// Log are the documents that tell of it, which are written when the commit is made.
	Log []Document `json:"log,omitempty"`
}

// RewindResult says what was made.
type RewindResult struct {
	Commit string     `json:"commit"`
	Backup string     `json:"backup"`
	Branch string     `json:"branch"`
	Files  []FileStat `json:"files"`
	// Left are files that were left as they are, because somebody changed them meanwhile.
	Left []string `json:"left,omitempty"`
	// Clean says that git finds nothing changed afterwards.
	Clean bool `json:"clean"`
}

// Severity is how bad a remark of a review is.
type Severity string

// The severities of remarks, the worst first.
const (
	Critical Severity = "critical"
	Warning  Severity = "warning"
	Info     Severity = "info"
)

// Remark is something that a review found in a file.
type Remark struct {
	Severity Severity `json:"severity"`
	Rule     string   `json:"rule"`
	File     string   `json:"file"`
	Line     int      `json:"line"`
	// Key and Args name the message of the catalogue.
	Key  string   `json:"key"`
	Args []string `json:"args,omitempty"`
}

// Review is what a review looked at and what it found, the worst first.
type Review struct {
	Files int `json:"files"`
	Lines int `json:"lines"`
	// Skipped are files that are no text, too large, or gone.
	Skipped []string `json:"skipped"`
	Remarks []Remark `json:"remarks"`
	// More counts the remarks that are left out.
	More int `json:"more,omitempty"`
}

// PrepareSpec is the spec of KindPrepare: dependencies to fetch by the project's own tools.
type PrepareSpec struct {
	Sets []PrepareSet `json:"sets"`
	// Scripts lets packages run programs when they are installed.
	Scripts bool `json:"scripts,omitempty"`
	// Task says that the lock files are those of the tree of the task at work, and not those of the user's own.
	Task bool `json:"task,omitempty"`
}

// PrepareSet is what one lock file names, or a manifest where there is no lock file.
type PrepareSet struct {
	Ecosystem string `json:"ecosystem"`
	// Path is the folder that is to be filled, and Root the folder whose files decide, both relative to the tree; Root
	// is "" for the tree itself. Locks are these files, and Digest the sha256 of what they say: when they say something
	// else by then, nothing is fetched.
	Path   string   `json:"path"`
	Root   string   `json:"root,omitempty"`
	Locks  []string `json:"locks"`
	Digest string   `json:"digest"`
	// Sites are the only places that are connected to.
	Sites []Site `json:"sites"`
}

// PrepareResult says what was fetched.
type PrepareResult struct {
	Sets []PreparedSet `json:"sets"`
}

// PreparedSet is one set that is ready.
type PreparedSet struct {
	Path    string   `json:"path"`
	Digest  string   `json:"digest"`
	Folders []string `json:"folders"` // relative to the tree
	Tool    string   `json:"tool"`
	// Scripts are packages that wanted to run a program when they were installed; Ran says that they were let.
	Scripts []string `json:"scripts,omitempty"`
	Ran     bool     `json:"ran,omitempty"`
	// Before says that it was ready already.
	Before bool `json:"before,omitempty"`
}
