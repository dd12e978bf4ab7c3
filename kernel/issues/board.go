package issues

import (
	"fmt"
	"slices"
	"time"

	"pawl"
	"pawl/kernel"
	"pawl/kernel/audit"
	"pawl/kernel/composition"
	"pawl/machine"
	"pawl/machine/board"
	"pawl/machine/composed"
	"pawl/machine/session"
)

// beginBatch notes the branch of an issue whose work begins: the batch's, unless it has one of its own. The first one
// begins the batch.
func beginBatch(tx *kernel.Tx, b *kernel.Board, i *kernel.Issue, c *ClaimIssue) {
	if b.Branch == "" {
		b.Branch = c.Branch
	}
	if i.Branch == "" && c.Planning {
		i.Branch = b.Branch
	}
}

// Decide has the batch go on for another branch. One that is not open yet is begun for what its first worker says.
func (c *AimBoard) Decide(tx *kernel.Tx) error {
	b := tx.Board
	if b == nil || b.State == string(board.RunCompleted) || b.Branch == c.Branch {
		return nil
	}
	tx.Record(b, kernel.AuditBoardBranch, audit.Info, map[string]any{"from": b.Branch, "to": c.Branch})
	b.Branch = c.Branch
	tx.Touch(b)
	return nil
}

func (*AddIssues) OfBoard()     {}
func (*EditIssue) OfBoard()     {}
func (*AddDependency) OfBoard() {}
func (*ClaimIssue) OfBoard()    {}
func (*RenewIssue) OfBoard()    {}
func (*ReleaseIssue) OfBoard()  {}
func (*Release) OfBoard()       {}
func (*RetryIssue) OfBoard()    {}
func (*MoveBoard) OfBoard()     {}
func (*AimBoard) OfBoard()      {}

// issueOf returns a copy of an issue to change. One that does not exist is an error.
func issueOf(tx *kernel.Tx, id string) (*kernel.Issue, error) {
	i, ok := tx.Near[id]
	if !ok {
		tx.Want(kernel.ByID(kernel.KindIssue, id))
	}
	switch {
	case i == nil || i.Number == 0:
		return nil, pawl.Fail(pawl.CodeNotFound, "kernel.issue_not_found", id)
	case !kernel.Touches(tx, i):
		i = kernel.Clone(i)
		tx.Near[id] = i
		tx.Touch(i)
	}
	return i, nil
}

// batchFor returns the board, and opens a new one where there is none or the last one is complete.
func batchFor(tx *kernel.Tx) (*kernel.Board, error) {
	if b := tx.Board; b != nil && b.State != string(board.RunCompleted) {
		tx.Touch(b)
		return b, nil
	}
	b := &kernel.Board{Phase: string(board.Phase.Initial()), Number: 1}
	if last := tx.Board; last != nil {
		b.Number, b.Issues = last.Number+1, last.Issues
	}
	tx.Board = b
	tx.Create(b, kernel.KindBoard, fmt.Sprintf("BATCH-%d", b.Number), tx.Session.ID, string(board.Run.Initial()))
	tx.Record(b, kernel.AuditBoardOpened, audit.Info, map[string]any{"batch": b.Number})
	return b, kernel.MoveBy(tx, board.Run, b, string(board.Init), "", "the board is opened", nil, admitIssues(tx))
}

// admitIssues tries the gates of the board's own rows.
func admitIssues(tx *kernel.Tx) func(*machine.Rule[board.RunStatus, board.Event]) *pawl.Error {
	return func(r *machine.Rule[board.RunStatus, board.Event]) *pawl.Error {
		return board.Admit(r, board.Evidence{WorkDir: tx.Session.Place.Workspace,
			Executing: max(len(tx.Board.Busy), tx.AtWork)})
	}
}

// Decide takes the batch to another phase. While somebody is at work the phase says at what, whoever looks at the
// list.
func (c *MoveBoard) Decide(tx *kernel.Tx) error {
	if b := tx.Board; b != nil && c.Action == board.List && len(b.Busy) > 0 {
		kernel.Discard(tx)
		return nil
	}
	return movePhaseOfBoard(tx, c.Action)
}

// movePhaseOfBoard takes the batch to another phase.
func movePhaseOfBoard(tx *kernel.Tx, a board.Event) error {
	if tx.Board == nil {
		return pawl.Fail(pawl.CodeNotFound, "kernel.board_empty")
	}
	b := tx.Board
	if b.State == string(board.RunCompleted) {
		return pawl.Fail(pawl.CodeInvalidTransition, "kernel.board_completed", b.Label)
	}
	r, ok := board.Phase.Next(board.PhaseStatus(b.Phase), a, "")
	if !ok {
		return board.Phase.Refusal(board.PhaseStatus(b.Phase), a).Traced(tx.Trace)
	}
	if r.From != r.To {
		b.Phase = string(r.To)
		tx.Record(b, kernel.AuditPhaseAs.In(string(r.To)), audit.Info,
			map[string]any{"from_phase": r.From, "to_phase": r.To, "rule": r.ID, "issues": b.Members})
	}
	if a != board.Complete {
		return nil
	}
	b.EndedAt = tx.Now
	tx.Result = b.Label
	return kernel.MoveBy(tx, board.Run, b, string(a), "", "the batch is completed", nil, admitIssues(tx))
}

// claims are what happens when a worker takes an issue, by what it takes it for.
var claims = map[string]kernel.Event{
	board.ForPlan: kernel.ClaimedToPlan, board.ForExecute: kernel.ClaimedToDo, board.ForGoingOn: kernel.ClaimedToGoOn,
	board.ForDrain: kernel.ClaimedToDrain,
}

// works are what happens when the session of an issue needs another thing next.
var works = map[board.WorkStatus]kernel.Event{
	board.WorkRunnable: kernel.WorkGoesOn, board.WorkWaiting: kernel.WorkWaits, board.WorkDraining: kernel.WorkDrains,
}

// ready reports whether an issue may be claimed when its time has come and nobody has it.
func ready(i *kernel.Issue) bool {
	what, at := i.ClaimedFor(board.IssueStatus(i.State)), i.Regions
	at.Claim = board.Claim.Initial()
	row, ok := composition.By()[claims[what]]
	return ok && composed.States{Issue: board.IssueStatus(i.State), Regions: at}.Unmet(row.If) == "" &&
		at.Move(board.Claim.Name(), board.Acquire, what,
			board.Evidence{Approved: i.Bound, OpenDependencies: len(i.Open)}) == nil
}

// placeIssue sets when and in which order an issue may be claimed. It is called after everything that it depends on.
func placeIssue(tx *kernel.Tx, i *kernel.Issue) {
	due, may := kernel.Never, ready(i)
	untold := i.State == string(board.IssueCompleted) && i.Dependents != board.DependentsReleased
	switch {
	case untold:
		due = tx.Now
	case i.Lease.Owner != "":
		due = i.Lease.Expires
	case may:
		if due = i.Due; due.IsZero() || due.After(tx.Now) {
			due = tx.Now
		}
		if i.NotBefore.After(due) {
			due = i.NotBefore
		}
	}
	if rank := board.Rank(i.Priority, i.CreatedAt, i.Height, may || untold); rank != i.Rank || !due.Equal(i.Due) {
		i.Rank, i.Due = rank, due
		tx.Touch(i)
	}
}

func planning(i *kernel.Issue) bool {
	return i.State == string(board.IssueRegistered) || i.State == string(board.IssuePlanning)
}

// FollowBoard brings the issue of a session up to date with it, at the end of each decision.
func FollowBoard(tx *kernel.Tx) error {
	i := tx.Issue
	if i == nil || i.Number == 0 || tx.Session == nil || kernel.OfBoard(tx.Env.Command) {
		return nil
	}
	bound := tx.Solution != nil && tx.Solution.Bound && i.Solution == tx.Solution.ID
	if i.RestartReason != "" && tx.Session.State == string(session.Idle) && i.State == string(board.IssueFailed) {
		if err := tx.Apply(kernel.BegunAnew, "conflict"); err != nil {
			return err
		}
		i.Hear(i.RestartReason)
		i.RestartReason, i.Failures = "", 0
	}
	if i.Bound != bound {
		i.Bound = bound
		tx.Touch(i)
	}
	if work := kernel.BoardEvidence(tx).Work(); i.Work != work {
		if err := tx.Apply(works[work], ""); err != nil {
			return err
		}
	}
	again := time.Time{}
	if t := tx.Task; t != nil && t.Session != "" && t.Due.After(tx.Now) {
		again = t.Due
	}
	if !again.Equal(i.NotBefore) {
		i.NotBefore = again
		tx.Touch(i)
	}
	placeIssue(tx, i)
	return nil
}

// Decide claims an issue.
func (c *ClaimIssue) Decide(tx *kernel.Tx) error {
	if c.Owner == "" {
		return pawl.Fail(pawl.CodeInvalid, "kernel.owner_empty")
	}
	if tx.Board == nil {
		return nil
	}
	for _, id := range tx.Taken {
		i := tx.Near[id]
		if i == nil || i.Number == 0 || i.Due.After(tx.Now) || !ready(i) || planning(i) != c.Planning ||
			slices.Contains(c.Living, i.Lease.Owner) {
			continue
		}
		if !c.Planning && collides(tx.Board, i) {
			continue
		}
		return claimIssue(tx, c, id)
	}
	if c.Issue != "" {
		return unclaimable(tx, c)
	}
	return nil
}

// collides reports whether an issue is expected to change a file that another claimed one changes. One that only has
// something to finish changes none.
func collides(b *kernel.Board, i *kernel.Issue) bool {
	return i.Work != board.WorkDraining && slices.ContainsFunc(b.Busy,
		func(x kernel.Busy) bool { return x.Issue != i.ID && board.Overlap(x.Files, i.Changes()) })
}

func claimIssue(tx *kernel.Tx, c *ClaimIssue, id string) error {
	i, err := issueOf(tx, id)
	if err != nil {
		return err
	}
	action := board.Execute
	if c.Planning {
		action = board.Plan
	}
	b, err := batchFor(tx)
	if err != nil {
		return err
	}
	if err := movePhaseOfBoard(tx, action); err != nil {
		return err
	}
	beginBatch(tx, b, i, c)
	draining := i.Work == board.WorkDraining
	if !draining && i.Batch != b.Number { // an older one counts where it is worked on
		i.Batch = b.Number
		b.Members++
	}
	if err := kernel.ApplyTo(tx, i, claims[i.ClaimedFor(board.IssueStatus(i.State))]); err != nil {
		return err
	}
	i.Epoch++
	before := i.Lease.Owner
	i.Lease = kernel.Lease{Owner: c.Owner, Expires: tx.Now.Add(tx.Config.LeaseTime)}
	b.Busy = slices.DeleteFunc(slices.Clone(b.Busy), func(x kernel.Busy) bool { return x.Issue == id })
	busy := kernel.Busy{Issue: id, Label: i.Label, Owner: c.Owner, Since: tx.Now, Planning: c.Planning}
	if !draining && !c.Planning {
		busy.Files = i.Changes()
	}
	b.Busy = append(b.Busy, busy)
	tx.Record(i, kernel.AuditIssueTaken, audit.Info,
		map[string]any{"owner": c.Owner, "token": i.Epoch, "planning": c.Planning,
			"taken_over_from": before, "branch": i.Branch})
	placeIssue(tx, i)
	tx.Result = Taken{Issue: id, Session: i.Label, Token: i.Epoch}
	return nil
}

// unclaimable says why a certain issue cannot be claimed.
func unclaimable(tx *kernel.Tx, c *ClaimIssue) error {
	i := tx.Near[c.Issue]
	switch {
	case i == nil || i.Number == 0:
		return pawl.Fail(pawl.CodeNotFound, "kernel.issue_not_found", c.Issue)
	case i.Lease.Owner != "" && i.Due.After(tx.Now):
		return pawl.Fail(pawl.CodeBusy, "kernel.issue_taken", i.Label, i.Lease.Owner)
	case i.Hold == board.HoldPaused:
		return pawl.Fail(pawl.CodeBlocked, "kernel.issue_paused", i.Label)
	case len(i.Open) > 0 && !c.Planning:
		return pawl.Fail(pawl.CodeBlocked, "kernel.issue_waits", i.Label, len(i.Open))
	case i.Work == board.WorkWaiting:
		return pawl.Fail(pawl.CodeBlocked, "kernel.issue_asks", i.Label)
	}
	return pawl.Fail(pawl.CodeInvalidTransition, "kernel.issue_not_ready", i.Label, i.State)
}

// held returns the issue of a claim, checked against its token.
func held(tx *kernel.Tx, id string, token int64) (*kernel.Issue, error) {
	i, err := issueOf(tx, id)
	if err == nil {
		err = i.Held(token)
	}
	return i, err
}

// ClaimHolds fails for a command under a claim that is another's by now: a worker that slept past its lease would
// otherwise begin what its successor is about to do, or settle what the successor has at work. A receipt has a token of
// its own.
func ClaimHolds(tx *kernel.Tx) error {
	i := tx.Issue
	if tx.Env.Claim == 0 || i == nil || i.Number == 0 {
		return nil
	}
	c, takes := tx.Env.Command.(takingCommand)
	if takes && !c.UnderClaim() {
		return nil
	}
	if takes {
		tx.Touch(i) // so that a claim that changes hands before this is committed is seen by the issue's version
	}
	return i.Held(tx.Env.Claim)
}

// takingCommand is a command that takes an effect in hand under a claim, or reports on one under the effect's own
// token.
type takingCommand interface{ UnderClaim() bool }

// Decide prolongs a claim. It is no change of state and leaves no record.
func (c *RenewIssue) Decide(tx *kernel.Tx) error {
	i, err := held(tx, c.Issue, c.Token)
	if err != nil {
		return err
	}
	i.Lease.Expires = tx.Now.Add(tx.Config.LeaseTime)
	placeIssue(tx, i)
	return nil
}

// Decide ends a claim, or all claims of one who is gone.
func (c *ReleaseIssue) Decide(tx *kernel.Tx) error {
	if tx.Board == nil {
		return nil
	}
	if c.Issue != "" {
		i, err := held(tx, c.Issue, c.Token)
		if err != nil {
			return err
		}
		return unclaim(tx, i, c.Again)
	}
	for _, b := range slices.Clone(tx.Board.Busy) {
		if b.Owner != c.Owner || c.Owner == "" {
			continue
		}
		i, err := issueOf(tx, b.Issue)
		if err != nil {
			return err
		}
		if i.Lease.Owner != c.Owner {
			continue
		}
		if err := unclaim(tx, i, c.Again); err != nil {
			return err
		}
	}
	return nil
}

func unclaim(tx *kernel.Tx, i *kernel.Issue, again time.Time) error {
	if err := kernel.ApplyTo(tx, i, kernel.GivenBack); err != nil {
		return err
	}
	owner := i.Lease.Owner
	i.Lease, i.Due = kernel.Lease{}, tx.Now
	if again.After(i.NotBefore) {
		i.NotBefore = again
	}
	b := tx.Board
	b.Busy = slices.DeleteFunc(slices.Clone(b.Busy), func(x kernel.Busy) bool { return x.Issue == i.ID })
	tx.Touch(b)
	tx.Record(i, kernel.AuditIssueLeft, audit.Info, map[string]any{"owner": owner, "state": i.State})
	placeIssue(tx, i)
	return nil
}

// Read reads the issues that may be claimed, in their order, as far as needed to find one that collides with none.
func (c *ClaimIssue) Read(r *kernel.Reads, s *kernel.Snapshot) error {
	if c.Issue != "" {
		s.Taken = []string{c.Issue}
		r.Get(kernel.ByID(kernel.KindIssue, c.Issue))
		return nil
	}
	states := []board.IssueStatus{board.IssueExecuting, board.IssueCompleted, board.IssueFailed, board.IssuePlanned}
	if c.Planning {
		states = []board.IssueStatus{board.IssuePlanning, board.IssueRegistered}
	}
	for limit := queuePage; ; limit *= 8 {
		full, fits := false, false
		s.Taken = nil
		for _, state := range states {
			// What must not be claimed for a reason other than its time stands behind all the rest, so that no more
			// than a page is read.
			f := r.Get(kernel.Query{Kind: kernel.KindIssue, States: string(state), ByRank: true, Limit: limit})
			if f == nil {
				continue
			}
			full = full || len(f.Rows) == limit && f.Rows[limit-1].Rank > 0
			for n, row := range f.Rows {
				if row.Rank <= 0 {
					break
				}
				if i := kernel.DocAt[kernel.Issue](r, f, n); i != nil && !row.Due.After(c.Now) {
					s.Taken = append(s.Taken, row.ID)
					fits = fits || s.Board != nil && ready(i) && !collides(s.Board, i)
				}
			}
		}
		if r.Pending() || !full || c.Planning && len(s.Taken) > 0 || fits {
			return nil
		}
	}
}

// queuePage is how many claimable issues are looked at first.
const queuePage = 32

// Read counts the issues at work, which lie below the session of the workspace, as the board does.
func (c *MoveBoard) Read(r *kernel.Reads, s *kernel.Snapshot) error {
	if s.Board == nil || c.Action != board.Complete {
		return nil
	}
	states := string(board.IssuePlanning) + " " + string(board.IssueExecuting)
	if f := r.Get(kernel.Query{Kind: kernel.KindIssue, Parent: s.Board.Parent, States: states,
		HotOnly: true}); f != nil {
		s.AtWork = len(f.Rows)
	}
	return nil
}
