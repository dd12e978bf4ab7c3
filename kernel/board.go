package kernel

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"pawl"
	"pawl/kernel/audit"
	"pawl/kernel/topo"
	"pawl/machine"
	"pawl/machine/board"
	"pawl/machine/session"
)

// Bounds of one command and of one issue.
const (
	MaxIssues  = 1000
	maxTitle   = 500     // bytes
	maxContext = 1 << 20 // bytes
	maxAfter   = 1000
)

// beginBatch notes the branch of an issue whose work begins: the batch's, unless it has one of its own. The first one begins the batch.
func beginBatch(tx *Tx, b *Board, i *Issue, c *Take) {
	if b.Branch == "" {
		b.Branch = c.Branch
	}
	if i.Branch == "" && c.Planning {
		i.Branch = b.Branch
	}
}

// Decide has the batch go on for another branch. One that is not open yet is begun for what its first worker says.
func (c *AimBoard) Decide(tx *Tx) error {
	b := tx.Board
	if b == nil || b.State == string(board.RunCompleted) || b.Branch == c.Branch {
		return nil
	}
	tx.record(b, AuditBoardBranch, audit.Info, map[string]any{"from": b.Branch, "to": c.Branch})
	b.Branch = c.Branch
	tx.touch(b)
	return nil
}

// redirect gives an issue another branch, while nothing of its work is made for the one that it has.
func redirect(tx *Tx, i *Issue, branch *string, changed map[string]any) error {
	if branch != nil && *branch != i.Branch && i.State != string(board.IssueRegistered) && i.State != string(board.IssueFailed) {
		return pawl.Fail(pawl.CodeInvalidTransition, "kernel.issue_branch", i.Label, i.State, i.Branch)
	}
	set(changed, "branch", &i.Branch, branch)
	return nil
}

// boardCommand is a command about the board, which is there once the workspace has a session.
type boardCommand interface{ ofBoard() }

func (*AddIssues) ofBoard()  {}
func (*EditIssue) ofBoard()  {}
func (*Depend) ofBoard()     {}
func (*Take) ofBoard()       {}
func (*Keep) ofBoard()       {}
func (*Leave) ofBoard()      {}
func (*Release) ofBoard()    {}
func (*RetryIssue) ofBoard() {}
func (*MoveBoard) ofBoard()  {}
func (*AimBoard) ofBoard()   {}

// ofBoard reports whether a command is about the board.
func ofBoard(c Command) bool {
	_, ok := c.(boardCommand)
	return ok
}

// issueOf returns a copy of an issue to change. One that does not exist is an error.
func issueOf(tx *Tx, id string) (*Issue, error) {
	i, ok := tx.Near[id]
	if !ok {
		tx.want(byID(KindIssue, id))
	}
	switch {
	case i == nil || i.Number == 0:
		return nil, pawl.Fail(pawl.CodeNotFound, "kernel.issue_not_found", id)
	case !touches(tx, i):
		i = clone(i)
		tx.Near[id] = i
		tx.touch(i)
	}
	return i, nil
}

// batchFor returns the board, and opens a new one where there is none or the last one is complete.
func batchFor(tx *Tx) (*Board, error) {
	if b := tx.Board; b != nil && b.State != string(board.RunCompleted) {
		tx.touch(b)
		return b, nil
	}
	b := &Board{Phase: string(board.Phase.Initial()), Number: 1}
	if last := tx.Board; last != nil {
		b.Number, b.Issues = last.Number+1, last.Issues
	}
	tx.Board = b
	tx.create(b, KindBoard, fmt.Sprintf("BATCH-%d", b.Number), tx.Session.ID, string(board.Run.Initial()))
	tx.record(b, AuditBoardOpened, audit.Info, map[string]any{"batch": b.Number})
	return b, apply(tx, board.Run, b, string(board.Init), "", "the board is opened", nil, admitIssues(tx))
}

// admitIssues tries the gates of the board's own rows.
func admitIssues(tx *Tx) func(*machine.Rule[board.RunStatus, board.Event]) *pawl.Error {
	return func(r *machine.Rule[board.RunStatus, board.Event]) *pawl.Error {
		return board.Admit(r, board.Evidence{WorkDir: tx.Session.Place.Workspace, Executing: max(len(tx.Board.Busy), tx.AtWork)})
	}
}

// Decide takes the batch to another phase.
func (c *MoveBoard) Decide(tx *Tx) error { return movePhaseOfBoard(tx, c.Action) }

// movePhaseOfBoard takes the batch to another phase.
func movePhaseOfBoard(tx *Tx, a board.Event) error {
	if tx.Board == nil {
		return pawl.Fail(pawl.CodeNotFound, "kernel.board_empty")
	}
	b := tx.Board
	if b.State == string(board.RunCompleted) {
		return pawl.Fail(pawl.CodeInvalidTransition, "kernel.board_completed", b.Label)
	}
	r, ok := board.Phase.Next(board.PhaseStatus(b.Phase), a, "")
	if !ok {
		return board.Phase.Refusal(board.PhaseStatus(b.Phase), a).Traced(tx.trace)
	}
	if r.From != r.To {
		b.Phase = string(r.To)
		tx.record(b, auditPhaseAs.in(string(r.To)), audit.Info, map[string]any{"from_phase": r.From, "to_phase": r.To, "rule": r.ID, "issues": b.Members})
	}
	if a != board.Complete {
		return nil
	}
	b.EndedAt = tx.now
	tx.result = b.Label
	return apply(tx, board.Run, b, string(a), "", "the batch is completed", nil, admitIssues(tx))
}

// Decide registers issues.
func (c *AddIssues) Decide(tx *Tx) error {
	if len(c.Issues) == 0 || len(c.Issues) > MaxIssues {
		return pawl.Fail(pawl.CodeInvalid, "kernel.issues_count", len(c.Issues), MaxIssues)
	}
	b, err := batchFor(tx)
	if err != nil {
		return err
	}
	if c.Fresh {
		b.Branch = ""
	}
	labels := make([]string, len(c.Issues))
	names := map[string]string{} // what the command calls its issues
	known := knownIssue(tx)
	made := make([]*Issue, len(c.Issues))
	for n := range c.Issues {
		i, err := registerIssue(tx, b, &c.Issues[n], known)
		if err != nil {
			return err
		}
		made[n], labels[n] = i, i.Label
		for _, name := range []string{c.Issues[n].Ref, c.Issues[n].External} {
			if name != "" {
				names[name] = i.ID
			}
		}
	}
	for n, i := range made {
		for _, name := range c.Issues[n].After {
			on, ok := names[name]
			if !ok {
				on, ok = known[name]
				ok = ok && tx.Near[on].Number > 0
			}
			if !ok {
				return pawl.Fail(pawl.CodeInvalid, "kernel.dependency_unknown", i.Label, name)
			}
			if err := waitFor(tx, i, on); err != nil {
				return err
			}
		}
		placeIssue(tx, i)
	}
	tx.result = labels
	if b.Phase == string(board.Phase.Initial()) {
		return movePhaseOfBoard(tx, board.List)
	}
	return nil
}

// knownIssue returns the ids of the issues that were loaded, by all their names.
func knownIssue(tx *Tx) map[string]string {
	known := make(map[string]string, 3*len(tx.Near))
	for id, i := range tx.Near {
		if i != nil {
			known[id], known[i.Label] = id, id
		}
	}
	// Where one issue's label is another one's external id, the latter has it.
	for id, i := range tx.Near {
		if i != nil && i.External != "" {
			known[i.External] = id
		}
	}
	return known
}

// registerIssue makes one issue, or brings the one with its external id up to date.
func registerIssue(tx *Tx, b *Board, n *NewIssue, known map[string]string) (*Issue, error) {
	if err := checkIssue(n.Title, n.Context, n.Priority, len(n.After)); err != nil {
		return nil, err
	}
	if strings.HasPrefix(n.External, PackageAlias) {
		return nil, pawl.Fail(pawl.CodeInvalid, "kernel.issue_external", n.External, PackageAlias)
	}
	if n.External != "" {
		// The issue of a run by itself is none of the board's, whatever it is called.
		if id, ok := known[n.External]; ok && tx.Near[id].Number > 0 {
			i, err := issueOf(tx, id)
			if err != nil || i.Digest == n.Digest {
				return i, err
			}
			i.Title, i.Context, i.Priority, i.Tags, i.Digest, i.URL = n.Title, n.Context, n.Priority, n.Tags, n.Digest, n.URL
			// What was closed where it came from is not begun any more. Whether it is done, only a person can say.
			i.Paused = i.Paused || n.Closed && i.State != string(board.IssueCompleted)
			tx.record(i, AuditIssueUpdated, audit.Info, map[string]any{"external_id": n.External, "digest": n.Digest, "closed": n.Closed})
			return i, nil
		}
	}
	b.Issues++
	b.Members++
	label := n.Label
	if _, taken := known[label]; taken || !board.IsIssueID(label) { // the label names the issue's session too
		label = fmt.Sprintf("ISS-%d", b.Issues)
	}
	b.Issues = max(b.Issues, ordinal(label))
	i := &Issue{
		Title: n.Title, Context: n.Context, Priority: n.Priority, Tags: n.Tags, External: n.External, Digest: n.Digest, URL: n.URL,
		Given: n.Given, GivenName: n.GivenName, Agent: n.Agent, Branch: n.Branch, Feedback: n.Feedback, Paused: n.Paused, Height: n.Height, Number: b.Issues, Batch: b.Number,
	}
	state := board.Issue.Initial()
	if n.Closed {
		state, i.Released = board.IssueCompleted, true
	}
	tx.create(i, KindIssue, label, tx.Session.ID, string(state))
	tx.Near[i.ID], known[i.ID], known[i.Label] = i, i.ID, i.ID
	tx.record(i, AuditIssueCreated, audit.Info, map[string]any{"title": i.Title, "external_id": i.External, "batch": b.Number, "closed": n.Closed})
	if n.External != "" {
		known[n.External] = i.ID
		tx.create(&Alias{Issue: i.ID}, KindAlias, n.External, i.ID, "")
	}
	return i, nil
}

// maxOrdinal bounds the numbers in labels that are kept, behind which the numbers of further issues go on.
const maxOrdinal = 1_000_000_000

// ordinal is the number of a label that could be one of pawl's own, 0 for any other.
func ordinal(label string) int64 {
	digits, ok := strings.CutPrefix(label, "ISS-")
	n, err := strconv.ParseInt(digits, 10, 64)
	if !ok || err != nil || n < 0 || n > maxOrdinal || strconv.FormatInt(n, 10) != digits {
		return 0
	}
	return n
}

func checkIssue(title, context string, priority, after int) error {
	switch {
	case strings.TrimSpace(title) == "" || len(title) > maxTitle || strings.ContainsAny(title, "\n\r\x00"):
		return pawl.Fail(pawl.CodeInvalid, "kernel.issue_title", maxTitle)
	case len(context) > maxContext || strings.Contains(context, "\x00"):
		return pawl.Fail(pawl.CodeInvalid, "kernel.issue_context", maxContext)
	case priority < 0 || priority > 5:
		return pawl.Fail(pawl.CodeInvalid, "kernel.issue_priority", priority)
	case after > maxAfter:
		return pawl.Fail(pawl.CodeInvalid, "kernel.issue_after", after, maxAfter)
	}
	return nil
}

// Decide changes an issue.
func (c *EditIssue) Decide(tx *Tx) error {
	i, err := issueOf(tx, c.Issue)
	if err != nil {
		return err
	}
	changed := map[string]any{}
	set(changed, "title", &i.Title, c.Title)
	set(changed, "context", &i.Context, c.Context)
	set(changed, "priority", &i.Priority, c.Priority)
	set(changed, "agent", &i.Agent, c.Agent)
	set(changed, "paused", &i.Paused, c.Paused)
	if err := redirect(tx, i, c.Branch, changed); err != nil {
		return err
	}
	if c.Tags != nil && !slices.Equal(i.Tags, *c.Tags) {
		i.Tags = *c.Tags
		changed["tags"] = i.Tags
	}
	if c.Given != nil {
		i.Given, i.GivenName = *c.Given, c.GivenName
		changed["given"] = c.GivenName
	}
	if c.Feedback != "" {
		i.hear(c.Feedback)
		changed["feedback"] = c.Feedback
	}
	if err := checkIssue(i.Title, i.Context, i.Priority, 0); err != nil {
		return err
	}
	if len(changed) == 0 {
		tx.touched = nil
		return nil
	}
	tx.record(i, AuditIssueEdited, audit.Info, changed)
	placeIssue(tx, i)
	return nil
}

func set[T comparable](changed map[string]any, name string, at, to *T) {
	if to != nil && *at != *to {
		*at = *to
		changed[name] = *to
	}
}

// Decide adds a dependency or takes it back.
func (c *Depend) Decide(tx *Tx) error {
	i, err := issueOf(tx, c.Issue)
	if err != nil {
		return err
	}
	if !c.Remove {
		if slices.Contains(i.DependsOn, c.On) {
			tx.touched = nil
			return nil
		}
		if tx.Board != nil {
			tx.touch(tx.Board)
		}
		err = waitFor(tx, i, c.On)
	} else {
		at := slices.Index(i.DependsOn, c.On)
		if at < 0 {
			return pawl.Fail(pawl.CodeNotFound, "kernel.dependency_none", i.Label, c.On)
		}
		i.DependsOn = slices.Delete(slices.Clone(i.DependsOn), at, at+1)
		i.Open = slices.DeleteFunc(slices.Clone(i.Open), func(id string) bool { return id == c.On })
		for _, l := range tx.Links {
			if l.Issue == i.ID && l.Parent == c.On && !l.Gone {
				l.Gone = true
				tx.touch(l)
			}
		}
		tx.record(i, AuditDependencyRemoved, audit.Info, map[string]any{"on": c.On})
	}
	placeIssue(tx, i)
	return err
}

// waitFor has an issue wait for another one. A circle is refused, with its way round.
func waitFor(tx *Tx, i *Issue, on string) error {
	if slices.Contains(i.DependsOn, on) {
		return nil
	}
	if len(i.DependsOn) >= maxAfter {
		return pawl.Fail(pawl.CodeInvalid, "kernel.issue_after", len(i.DependsOn)+1, maxAfter)
	}
	// Most dependencies are on what is high enough, and leave everything as it is.
	at := tx.Near[on]
	enough := at != nil && at.Height > i.Height
	rise := topo.Add(graphOf(tx.Near), i.ID, on, !enough && unawaited(tx, i))
	switch {
	case rise.Unknown != "":
		return pawl.Fail(pawl.CodeNotFound, "kernel.issue_not_found", rise.Unknown)
	case rise.Need != nil:
		for id := range rise.Need {
			tx.want(byID(KindIssue, id))
		}
		if tx.reads != nil {
			tx.reads.ahead = climb(tx.reads, rise.Need, i)
		}
		return pawl.Fail(pawl.CodeNotFound, "kernel.issue_not_found", on)
	case rise.Circle != nil:
		way := make([]string, 0, len(rise.Circle)+1)
		for _, id := range append(rise.Circle, i.ID) {
			way = append(way, tx.Near[id].Label)
		}
		return pawl.Fail(pawl.CodeInvalid, "kernel.dependency_circle", strings.Join(way, " → "))
	}
	for _, id := range slices.Sorted(maps.Keys(rise.Heights)) {
		j, err := issueOf(tx, id)
		if err != nil {
			return err
		}
		j.Height = rise.Heights[id]
		placeIssue(tx, j)
	}
	i.DependsOn = append(slices.Clip(i.DependsOn), on)
	if tx.Near[on].State != string(board.IssueCompleted) {
		i.Open = append(slices.Clip(i.Open), on)
	}
	tx.create(&Link{Issue: i.ID}, KindLink, "", on, "")
	tx.record(i, AuditDependencyAdded, audit.Info, map[string]any{"on": on})
	return nil
}

// graphOf is the order of dependencies among the issues that were loaded.
func graphOf(near map[string]*Issue) topo.Graph {
	return func(id string) (*topo.Node, bool) {
		i, ok := near[id]
		if i == nil {
			return nil, ok
		}
		return &topo.Node{Height: i.Height, On: i.DependsOn, Stored: i.Version > 0}, true
	}
}

// unawaited reports whether no issue waits for one: one that this very command registers, or the one that it is about. Each
// command that adds a dependency writes the board, so that none that is decided at the same time can say otherwise.
func unawaited(tx *Tx, i *Issue) bool {
	if i.Version > 0 {
		c, ok := tx.env.Command.(*Depend)
		return ok && c.Issue == i.ID && len(tx.Links) == 0
	}
	return !slices.ContainsFunc(tx.touched, func(e Document) bool {
		l, ok := e.(*Link)
		return ok && l.Parent == i.ID
	})
}

// placeIssue sets when and in which order an issue may be claimed. It is called after everything that it depends on.
func placeIssue(tx *Tx, i *Issue) {
	due := never
	switch {
	case i.untold():
		due = tx.now
	case i.Lease.Owner != "":
		due = i.Lease.Expires
	case i.ready():
		if due = i.Due; due.IsZero() || due.After(tx.now) {
			due = tx.now
		}
		if i.Again.After(due) {
			due = i.Again
		}
	}
	if rank := i.rank(i.ready() || i.untold()); rank != i.Rank || !due.Equal(i.Due) {
		i.Rank, i.Due = rank, due
		tx.touch(i)
	}
}

// followBoard brings the issue of a session up to date with it, at the end of each decision.
func followBoard(tx *Tx) error {
	i := tx.Issue
	if i == nil || i.Number == 0 || tx.Session == nil || ofBoard(tx.env.Command) {
		return nil
	}
	bound := tx.Solution != nil && tx.Solution.Bound && i.Solution == tx.Solution.ID
	if i.Anew != "" && tx.Session.State == string(session.Idle) && i.State == string(board.IssueFailed) {
		if err := apply(tx, board.Issue, i, string(board.Retry), board.Replan, "conflict", nil, nil); err != nil {
			return err
		}
		i.hear(i.Anew)
		i.Anew, i.Failures = "", 0
	}
	winding := winds(tx)
	if waiting := waits(tx); i.Waiting != waiting || i.Bound != bound || i.Winding != winding {
		i.Waiting, i.Bound, i.Winding = waiting, bound, winding
		tx.touch(i)
	}
	again := time.Time{}
	if t := tx.Task; t != nil && t.Session != "" && t.Due.After(tx.now) {
		again = t.Due
	}
	if !again.Equal(i.Again) {
		i.Again = again
		tx.touch(i)
	}
	placeIssue(tx, i)
	return nil
}

// winds reports whether the session has something to finish that does not wait for the issue's turn: what is left to do for an
// issue that rests, and a cancel.
func winds(tx *Tx) bool {
	if t := tx.Task; t != nil && tx.Session.Run != "" && !t.CancelAt.IsZero() {
		return true
	}
	if i := tx.Issue; i.State != string(board.IssueCompleted) && i.State != string(board.IssueFailed) {
		return false
	}
	return tx.Session.Effect != "" || tx.Task != nil && tx.Task.Effect != "" || helpable(tx)
}

// helpable reports whether the board tries again by itself what the session is BLOCKED with.
func helpable(tx *Tx) bool {
	b := tx.Session.Blocked
	if tx.Session.State != string(session.Blocked) || b == nil || tx.Session.Rolling {
		return false
	}
	return b.Kind == BlockedFuse && tx.Issue.Retries < tx.Config.BoardRetries || b.Kind == BlockedDependency && tx.Issue.Conflicts == 0
}

// waits reports whether nothing goes on in the session before a person has said something.
func waits(tx *Tx) bool {
	switch session.State(tx.Session.State) {
	case session.Confirming, session.Blocked:
		return true
	}
	if a := tx.Approval; a != nil && a.State == ApprovalPending && a.ID == tx.Session.Approval {
		return true
	}
	return tx.Session.Paused || tx.Turn != nil && turnParked(tx)
}

// Decide claims an issue.
func (c *Take) Decide(tx *Tx) error {
	if c.Owner == "" {
		return pawl.Fail(pawl.CodeInvalid, "kernel.owner_empty")
	}
	if tx.Board == nil {
		return nil
	}
	for _, id := range tx.Taken {
		i := tx.Near[id]
		if i == nil || i.Number == 0 || i.Due.After(tx.now) || !i.ready() || planning(i) != c.Planning {
			continue
		}
		if !c.Planning && tx.Board.collides(i) {
			continue
		}
		return claimIssue(tx, c, id)
	}
	if c.Issue != "" {
		return unclaimable(tx, c)
	}
	return nil
}

func planning(i *Issue) bool {
	return i.State == string(board.IssueRegistered) || i.State == string(board.IssuePlanning)
}

// collides reports whether an issue is expected to change a file that another claimed one changes. One that only has something
// to finish changes none.
func (b *Board) collides(i *Issue) bool {
	return !i.Winding && slices.ContainsFunc(b.Busy, func(x Busy) bool { return x.Issue != i.ID && Overlap(x.Files, i.Changes()) })
}

// Changes are the files that work on the issue is expected to change.
func (i *Issue) Changes() []string { return append(slices.Clip(i.Files), i.Met...) }

// Overlap reports whether two lists of files have one in common. A name that ends with a slash stands for what is below it.
func Overlap(a, b []string) bool {
	return slices.ContainsFunc(a, func(x string) bool {
		return slices.ContainsFunc(b, func(y string) bool {
			return x == y || strings.HasSuffix(x, "/") && strings.HasPrefix(y, x) || strings.HasSuffix(y, "/") && strings.HasPrefix(x, y)
		})
	})
}

func claimIssue(tx *Tx, c *Take, id string) error {
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
	if !i.Winding && i.Batch != b.Number { // an older one counts where it is worked on
		i.Batch = b.Number
		b.Members++
	}
	i.Epoch++
	before := i.Lease.Owner
	i.Lease = Lease{Owner: c.Owner, Expires: tx.now.Add(tx.Config.LeaseTime)}
	b.Busy = slices.DeleteFunc(slices.Clone(b.Busy), func(x Busy) bool { return x.Issue == id })
	busy := Busy{Issue: id, Label: i.Label, Owner: c.Owner, Since: tx.now, Planning: c.Planning}
	if !i.Winding && !c.Planning {
		busy.Files = i.Changes()
	}
	b.Busy = append(b.Busy, busy)
	tx.record(i, AuditIssueTaken, audit.Info, map[string]any{"owner": c.Owner, "token": i.Epoch, "planning": c.Planning, "taken_over_from": before, "branch": i.Branch})
	placeIssue(tx, i)
	tx.result = Taken{Issue: id, Lane: i.Label, Token: i.Epoch}
	return nil
}

// unclaimable says why a certain issue cannot be claimed.
func unclaimable(tx *Tx, c *Take) error {
	i := tx.Near[c.Issue]
	switch {
	case i == nil || i.Number == 0:
		return pawl.Fail(pawl.CodeNotFound, "kernel.issue_not_found", c.Issue)
	case i.Lease.Owner != "" && i.Due.After(tx.now):
		return pawl.Fail(pawl.CodeBusy, "kernel.issue_taken", i.Label, i.Lease.Owner)
	case i.Paused:
		return pawl.Fail(pawl.CodeBlocked, "kernel.issue_paused", i.Label)
	case len(i.Open) > 0 && !c.Planning:
		return pawl.Fail(pawl.CodeBlocked, "kernel.issue_waits", i.Label, len(i.Open))
	case i.Waiting:
		return pawl.Fail(pawl.CodeBlocked, "kernel.issue_asks", i.Label)
	}
	return pawl.Fail(pawl.CodeInvalidTransition, "kernel.issue_not_ready", i.Label, i.State)
}

// held returns the issue of a claim, checked against its token.
func held(tx *Tx, id string, token int64) (*Issue, error) {
	i, err := issueOf(tx, id)
	if err == nil {
		err = i.Held(token)
	}
	return i, err
}

// claimHolds fails for a command under a claim that is another's by now: a worker that slept past its lease would otherwise begin
// what its successor is about to do, or settle what the successor has at work. A receipt has a token of its own.
func claimHolds(tx *Tx) error {
	i := tx.Issue
	if tx.env.Claim == 0 || i == nil || i.Number == 0 {
		return nil
	}
	c, takes := tx.env.Command.(takingCommand)
	if takes && !c.underClaim() {
		return nil
	}
	if takes {
		tx.touch(i) // so that a claim that changes hands before this is committed is seen by the issue's version
	}
	return i.Held(tx.env.Claim)
}

// takingCommand is a command that takes an effect in hand under a claim, or reports on one under the effect's own token.
type takingCommand interface{ underClaim() bool }

func (*Begin) underClaim() bool   { return true }
func (*Recover) underClaim() bool { return true }
func (*Report) underClaim() bool  { return false }

// Decide prolongs a claim. It is no change of state and leaves no record.
func (c *Keep) Decide(tx *Tx) error {
	i, err := held(tx, c.Issue, c.Token)
	if err != nil {
		return err
	}
	i.Lease.Expires = tx.now.Add(tx.Config.LeaseTime)
	placeIssue(tx, i)
	return nil
}

// Decide ends a claim, or all claims of one who is gone.
func (c *Leave) Decide(tx *Tx) error {
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

func unclaim(tx *Tx, i *Issue, again time.Time) error {
	owner := i.Lease.Owner
	i.Lease, i.Due = Lease{}, tx.now
	if again.After(i.Again) {
		i.Again = again
	}
	b := tx.Board
	b.Busy = slices.DeleteFunc(slices.Clone(b.Busy), func(x Busy) bool { return x.Issue == i.ID })
	tx.touch(b)
	tx.record(i, AuditIssueLeft, audit.Info, map[string]any{"owner": owner, "state": i.State})
	placeIssue(tx, i)
	return nil
}

// Decide tells those that depend on a completed issue.
func (c *Release) Decide(tx *Tx) error {
	i, err := issueOf(tx, c.Issue)
	if err != nil {
		return err
	}
	if i.State != string(board.IssueCompleted) || i.Released {
		tx.touched = nil
		return nil
	}
	for _, l := range tx.Links {
		j, err := issueOf(tx, l.Issue)
		if err != nil {
			return err
		}
		if at := slices.Index(j.Open, i.ID); at >= 0 {
			j.Open = slices.Delete(slices.Clone(j.Open), at, at+1)
			placeIssue(tx, j)
		}
	}
	i.Released = true
	tx.record(i, AuditDependentsReleased, audit.Info, map[string]any{"dependents": len(tx.Links)})
	placeIssue(tx, i)
	return nil
}

// Decide puts a failed issue back to be planned anew, once its session has nothing at work.
func (c *RetryIssue) Decide(tx *Tx) error {
	i, err := issueOf(tx, c.Issue)
	if err != nil {
		return err
	}
	if c.Note != "" {
		i.hear(c.Note)
	}
	i.Paused, i.Failures, i.Again = false, 0, time.Time{}
	if tx.env.Actor.Kind() == pawl.KindUser {
		i.Retries, i.Conflicts = 0, 0
	}
	if i.State == string(board.IssueFailed) {
		err = apply(tx, board.Issue, i, string(board.Retry), board.Replan, c.Note, nil, nil)
	} else if i.State != string(board.IssueRegistered) {
		err = pawl.Fail(pawl.CodeInvalidTransition, "kernel.issue_not_failed", i.Label, i.State)
	}
	placeIssue(tx, i)
	return err
}
