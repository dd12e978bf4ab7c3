package effect

import (
	"strings"
	"time"
)

// PullState is the state of a pull request.
type PullState string

// The states. A pull request that is closed was not merged.
const (
	PullOpen   PullState = "open"
	PullMerged PullState = "merged"
	PullClosed PullState = "closed"
)

// Target is where a pull request is made. What is empty in a spec is found out when the branch is pushed, and stands in
// the result of that.
type Target struct {
	// Remote is the name of git's remote, Forge the kind of forge that answers (github, gitlab, gitea), Host its name,
	// and Repository OWNER/NAME there.
	Remote     string `json:"remote,omitempty"`
	Forge      string `json:"forge,omitempty"`
	Host       string `json:"host,omitempty"`
	Repository string `json:"repository,omitempty"`
	// Fork is OWNER/NAME of the repository that the branch is pushed to, "" where that is Repository itself.
	Fork string `json:"fork,omitempty"`
}

// Pull is the pull request of a run. Number is 0 before there is one.
type Pull struct {
	Target
	// Head is the branch that was pushed, and Base the one that it is to be merged into, as the forge knows them.
	Head   string    `json:"head"`
	Base   string    `json:"base,omitempty"`
	Number int       `json:"number,omitempty"`
	URL    string    `json:"url,omitempty"`
	State  PullState `json:"state,omitempty"`
	// Foreign says that a person opened it or moved it to another base, so that pawl leaves its description alone.
	Foreign bool `json:"foreign,omitempty"`
	// Commit and Tree are what was pushed last.
	Commit string `json:"commit"`
	Tree   string `json:"tree"`
	// Seen are the comments that have come back as feedback, by their ids.
	Seen []string `json:"seen,omitempty"`
	// Fault is why it is not there as a whole, nil where it is.
	Fault *Fault `json:"fault,omitempty"`
}

// Stands reports whether there is a pull request, as far as is known, that was not merged.
func (p *Pull) Stands() bool { return p != nil && p.Number > 0 && p.State != PullMerged }

// OfPull reports whether a branch is one of pawl's own, which pull requests are made of: work that is for it goes
// there.
func OfPull(branch string) bool { return strings.HasPrefix(branch, "pawl/") }

// PushSpec is the spec of KindPush: a commit to share as a branch of pawl's. Nothing is ever forced.
type PushSpec struct {
	Target
	Commit string `json:"commit"`
	Head   string `json:"head"`
	// Branch is the branch of the workspace that the work is for; where it is shared is what the pull request is for.
	Branch string `json:"branch,omitempty"`
}

// PushResult says where the commit is.
type PushResult struct {
	Target
	Base string `json:"base,omitempty"`
}

// PullSpec is the spec of KindPull. A pull request of the branch that is open takes the new words, and no second one is
// made.
type PullSpec struct {
	Target
	Head  string `json:"head"`
	Base  string `json:"base,omitempty"`
	Title string `json:"title"`
	Body  string `json:"body"`
	// Marker stands in the body, so that the pull request is known again.
	Marker string `json:"marker"`
}

// PullResult is the pull request that is there.
type PullResult struct {
	Number  int       `json:"number"`
	URL     string    `json:"url"`
	State   PullState `json:"state"`
	Base    string    `json:"base"`
	Foreign bool      `json:"foreign,omitempty"`
}

// CloseSpec is the spec of KindClose: the pull request is closed, and its branch taken away where it is still at the
// commit that pawl left there. Again brings both back. One that was merged is left as it is, and that is an error.
type CloseSpec struct {
	Target
	Number int    `json:"number"`
	Head   string `json:"head"`
	Commit string `json:"commit"`
	Again  bool   `json:"again,omitempty"`
}

// StatusSpec is the spec of KindStatus: what pawl says of a commit, as a check where the token is an application's and
// as a status where it is a person's.
type StatusSpec struct {
	Target
	Commit string `json:"commit"`
	// OK says that the work is proven or taken by a person. Title fits into a line, and Text is Markdown.
	OK     bool   `json:"ok"`
	Title  string `json:"title"`
	Text   string `json:"text"`
	URL    string `json:"url,omitempty"`
	Marker string `json:"marker"`
}

// CommentSpec is the spec of KindComment: the one comment of pawl's under a pull request, which is written or changed.
// What proves the task's records to be in the audit log is added when it is written.
type CommentSpec struct {
	Target
	Number int    `json:"number"`
	Text   string `json:"text"`
	Marker string `json:"marker"`
	Task   string `json:"task"`
}

// Posted names what was written on a forge, by its id there.
type Posted struct {
	ID string `json:"id"`
	// How is what it was written as: check, status or comment.
	How string `json:"how"`
	// Digest is the sha256 of the text.
	Digest string    `json:"digest,omitempty"`
	At     time.Time `json:"at,omitzero"`
}

// PullComment is what somebody else wrote under a pull request.
type PullComment struct {
	// ID tells it from all others under the same pull request.
	ID   string `json:"id"`
	By   string `json:"by"`
	Text string `json:"text"`
	// Path and Line say what it is about, "" and 0 for the whole.
	Path string    `json:"path,omitempty"`
	Line int       `json:"line,omitempty"`
	URL  string    `json:"url,omitempty"`
	At   time.Time `json:"at,omitzero"`
}
