// Package issues keeps the board: what is registered on it, what waits for what, and who has claimed which issue.
package issues

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"pawl"
	"pawl/kernel"
	"pawl/kernel/audit"
	"pawl/kernel/topo"
	"pawl/machine/board"
)

// Bounds of one command and of one issue.
const (
	MaxIssues  = 1000
	maxTitle   = 500     // bytes
	maxContext = 1 << 20 // bytes
	maxAfter   = 1000
)

// Read finds the issues that the command names by label, external id or id.
func (c *AddIssues) Read(r *kernel.Reads, _ *kernel.Snapshot) error {
	for n := range c.Issues {
		i := &c.Issues[n]
		for _, name := range append([]string{i.External, i.Label}, i.After...) {
			if name == "" {
				continue
			}
			asks := []kernel.Query{kernel.ByLabel(kernel.KindAlias, name).Hot()}
			if board.IsIssueID(name) { // no other label is an issue's of the board
				asks = append(asks, kernel.ByLabel(kernel.KindIssue, name).Hot())
			}
			if len(name) == kernel.IDLength {
				asks = append(asks, kernel.ByID(kernel.KindIssue, name).Hot())
			}
			for _, a := range asks {
				f := r.Get(a)
				if f == nil || len(f.Rows) == 0 {
					continue
				}
				id := f.Rows[0].ID
				if a.Kind == kernel.KindAlias {
					id = f.Rows[0].Parent
				}
				r.Get(kernel.ByID(kernel.KindIssue, id))
			}
		}
	}
	return nil
}

// Decide registers issues.
func (c *AddIssues) Decide(tx *kernel.Tx) error {
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
	made := make([]*kernel.Issue, len(c.Issues))
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
	tx.Result = labels
	if b.Phase == string(board.Phase.Initial()) {
		return movePhaseOfBoard(tx, board.List)
	}
	return nil
}

// knownIssue returns the ids of the issues that were loaded, by all their names.
func knownIssue(tx *kernel.Tx) map[string]string {
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
func registerIssue(tx *kernel.Tx, b *kernel.Board, n *NewIssue, known map[string]string) (*kernel.Issue, error) {
	if err := checkIssue(n.Title, n.Context, n.Priority, len(n.After)); err != nil {
		return nil, err
	}
	if strings.HasPrefix(n.External, kernel.PackageAlias) {
		return nil, pawl.Fail(pawl.CodeInvalid, "kernel.issue_external", n.External, kernel.PackageAlias)
	}
	if n.External != "" {
		// The issue of a run by itself is none of the board's, whatever it is called.
		if id, ok := known[n.External]; ok && tx.Near[id].Number > 0 {
			i, err := issueOf(tx, id)
			if err != nil || i.Digest == n.Digest {
				return i, err
			}
			i.Title, i.Context, i.Priority, i.Tags, i.Digest, i.URL = n.Title, n.Context, n.Priority, n.Tags, n.Digest,
				n.URL
			// What was closed where it came from is not begun any more. Whether it is done, only a person can say.
			if n.Closed && i.State != string(board.IssueCompleted) {
				if err := kernel.HoldIssue(tx, i, true); err != nil {
					return nil, err
				}
			}
			tx.Record(i, kernel.AuditIssueUpdated, audit.Info,
				map[string]any{"external_id": n.External, "digest": n.Digest,
					"closed": n.Closed})
			return i, nil
		}
	}
	b.Issues++
	b.Members++
	label := n.Label
	if _, taken := known[label]; taken || !board.IsIssueID(label) { // the label names the issue's session too
		label = fmt.Sprintf("ISS-%d", b.Issues)
	}
	b.Issues = max(b.Issues, board.Ordinal(label))
	came := n.cameAs(b)
	i := &kernel.Issue{
		Title: n.Title, Context: n.Context, Priority: n.Priority, Tags: n.Tags, External: n.External, Digest: n.Digest,
		URL:   n.URL,
		Given: n.Given, GivenName: n.GivenName, Agent: n.Agent, Branch: n.Branch, Feedback: n.Feedback,
		Height: n.Height, Number: b.Issues, Batch: b.Number,
	}
	i.Settle(false)
	state := board.Issue.Initial()
	if n.Closed {
		state, i.Dependents = board.IssueCompleted, board.DependentsReleased
	}
	if s := n.State; s != nil {
		i.PlannedAt, i.ExecutedAt, i.Error, i.Errors, i.Came = s.PlannedAt, s.Executed, s.Error, s.Errors, came
		if s.Failed {
			state = board.IssueFailed
		}
	}
	tx.Create(i, kernel.KindIssue, label, tx.Session.ID, string(state))
	tx.Near[i.ID], known[i.ID], known[i.Label] = i, i.ID, i.ID
	if err := kernel.HoldIssue(tx, i, n.Paused); err != nil {
		return nil, err
	}
	tx.Record(i, kernel.AuditIssueCreated, audit.Info, map[string]any{"title": i.Title, "external_id": i.External,
		"batch": b.Number, "closed": n.Closed})
	if n.External != "" {
		known[n.External] = i.ID
		tx.Create(&kernel.Alias{Issue: i.ID}, kernel.KindAlias, n.External, i.ID, "")
	}
	return i, nil
}

// cameAs is what an issue came with. The number of its queue item becomes its own where that is free, so that no later
// item has the same name; otherwise the item is named anew.
func (n *NewIssue) cameAs(b *kernel.Board) *kernel.Came {
	if n.State == nil {
		return nil
	}
	came := n.State.Came
	if came.Item == nil {
		return &came
	}
	item := *came.Item
	if at, err := strconv.ParseInt(strings.TrimPrefix(item.ItemID, "S-"), 10, 64); err == nil {
		b.Issues = max(b.Issues, min(at, board.MaxOrdinal))
		item.ItemID = fmt.Sprintf("S-%d", b.Issues)
	}
	came.Item = &item
	return &came
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
func (c *EditIssue) Decide(tx *kernel.Tx) error {
	i, err := issueOf(tx, c.Issue)
	if err != nil {
		return err
	}
	changed := map[string]any{}
	set(changed, "title", &i.Title, c.Title)
	set(changed, "context", &i.Context, c.Context)
	set(changed, "priority", &i.Priority, c.Priority)
	set(changed, "agent", &i.Agent, c.Agent)
	if c.Paused != nil && *c.Paused != (i.Hold == board.HoldPaused) {
		if err := kernel.HoldIssue(tx, i, *c.Paused); err != nil {
			return err
		}
		changed["paused"] = *c.Paused
	}
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
		i.Hear(c.Feedback)
		changed["feedback"] = c.Feedback
	}
	if err := checkIssue(i.Title, i.Context, i.Priority, 0); err != nil {
		return err
	}
	if len(changed) == 0 {
		kernel.Discard(tx)
		return nil
	}
	tx.Record(i, kernel.AuditIssueEdited, audit.Info, changed)
	placeIssue(tx, i)
	return nil
}

// redirect gives an issue another branch, while nothing of its work is made for the one that it has.
func redirect(tx *kernel.Tx, i *kernel.Issue, branch *string, changed map[string]any) error {
	if branch != nil && *branch != i.Branch && i.State != string(board.IssueRegistered) &&
		i.State != string(board.IssueFailed) {
		return pawl.Fail(pawl.CodeInvalidTransition, "kernel.issue_branch", i.Label, i.State, i.Branch)
	}
	set(changed, "branch", &i.Branch, branch)
	return nil
}

func set[T comparable](changed map[string]any, name string, at, to *T) {
	if to != nil && *at != *to {
		*at = *to
		changed[name] = *to
	}
}

// Read reads whether anything waits for the issue that is to wait, or the dependency that is taken back.
func (c *AddDependency) Read(r *kernel.Reads, s *kernel.Snapshot) error {
	r.Get(kernel.ByID(kernel.KindIssue, c.Issue))
	if c.Remove {
		waiting(r, s, c.On)
		return nil
	}
	r.Get(kernel.ByID(kernel.KindIssue, c.On))
	any := kernel.Below(kernel.KindLink, c.Issue)
	any.Limit = 1
	s.Links = kernel.List[kernel.Link](r, any)
	return nil
}

// Decide adds a dependency or takes it back.
func (c *AddDependency) Decide(tx *kernel.Tx) error {
	i, err := issueOf(tx, c.Issue)
	if err != nil {
		return err
	}
	if !c.Remove {
		if slices.Contains(i.DependsOn, c.On) {
			kernel.Discard(tx)
			return nil
		}
		if tx.Board != nil {
			tx.Touch(tx.Board)
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
				tx.Touch(l)
			}
		}
		tx.Record(i, kernel.AuditDependencyRemoved, audit.Info, map[string]any{"on": c.On})
	}
	placeIssue(tx, i)
	return err
}

// waitFor has an issue wait for another one. A circle is refused, with its way round.
func waitFor(tx *kernel.Tx, i *kernel.Issue, on string) error {
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
			tx.Want(kernel.ByID(kernel.KindIssue, id))
		}
		kernel.LookAhead(tx, func(r *kernel.Reads, load func([]string) error) error {
			return climb(r, load, rise.Need,
				i)
		})
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
	tx.Create(&kernel.Link{Issue: i.ID}, kernel.KindLink, "", on, "")
	tx.Record(i, kernel.AuditDependencyAdded, audit.Info, map[string]string{"on": on})
	return nil
}

// graphOf is the order of dependencies among the issues that were loaded.
func graphOf(near map[string]*kernel.Issue) topo.Graph {
	return func(id string) (*topo.Node, bool) {
		i, ok := near[id]
		if i == nil {
			return nil, ok
		}
		return &topo.Node{Height: i.Height, On: i.DependsOn, Stored: i.Version > 0}, true
	}
}

// unawaited reports whether no issue waits for one: one that this very command registers, or the one that it is about.
// Each command that adds a dependency writes the board, so that none that is decided at the same time can say
// otherwise.
func unawaited(tx *kernel.Tx, i *kernel.Issue) bool {
	if i.Version > 0 {
		c, ok := tx.Env.Command.(*AddDependency)
		return ok && c.Issue == i.ID && len(tx.Links) == 0
	}
	return !kernel.Changes(tx, func(e kernel.Document) bool {
		l, ok := e.(*kernel.Link)
		return ok && l.Parent == i.ID
	})
}

// climb reads, up to a number that grows from one time to the next, the issues that are too low for a dependency, and
// what they depend on. Need says how high each must be at least where an issue is to wait for them. Those come first
// over which a way may lead back to that one, which are no higher than it; where one does, the rest is not needed.
func climb(r *kernel.Reads, load func(ids []string) error, need map[string]int64, waits *kernel.Issue) error {
	low, high := slices.Collect(maps.Keys(need)), []string(nil)
	for most := r.Reach(); len(low)+len(high) > 0 && r.Size() < most; {
		at, all := low, len(low) == 0
		if all {
			at, high = high, nil
		}
		low = nil
		slices.Sort(at)
		at = slices.Compact(at)
		if err := load(at); err != nil {
			return err
		}
		for _, id := range at {
			i := kernel.One[kernel.Issue](r, kernel.ByID(kernel.KindIssue, id))
			if i == nil || i.Height >= need[id] {
				continue
			}
			if i.Height > waits.Height && !all {
				high = append(high, id)
				continue
			}
			for _, on := range i.DependsOn {
				if on == waits.ID {
					return nil
				}
				if n, ok := need[on]; !ok || n <= need[id] {
					need[on] = need[id] + 1
					low = append(low, on)
				}
			}
		}
	}
	return nil
}

// waiting gathers the dependencies on an issue.
func waiting(r *kernel.Reads, s *kernel.Snapshot, on string) []*kernel.Link {
	s.Links = slices.DeleteFunc(kernel.List[kernel.Link](r, kernel.Below(kernel.KindLink, on)),
		func(l *kernel.Link) bool { return l.Gone })
	return s.Links
}

func (c *Release) Read(r *kernel.Reads, s *kernel.Snapshot) error {
	r.Get(kernel.ByID(kernel.KindIssue, c.Issue))
	for _, l := range waiting(r, s, c.Issue) {
		r.Get(kernel.ByID(kernel.KindIssue, l.Issue))
	}
	return nil
}

// Decide tells those that depend on a completed issue.
func (c *Release) Decide(tx *kernel.Tx) error {
	i, err := issueOf(tx, c.Issue)
	if err != nil {
		return err
	}
	if i.State != string(board.IssueCompleted) || i.Dependents == board.DependentsReleased {
		kernel.Discard(tx)
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
	if err := kernel.ApplyTo(tx, i, kernel.DependentsTold); err != nil {
		return err
	}
	tx.Record(i, kernel.AuditDependentsReleased, audit.Info, map[string]any{"dependents": len(tx.Links)})
	placeIssue(tx, i)
	return nil
}

// Decide puts a failed issue back to be planned anew, once its session has nothing at work.
func (c *RetryIssue) Decide(tx *kernel.Tx) error {
	i, err := issueOf(tx, c.Issue)
	if err != nil {
		return err
	}
	if c.Note != "" {
		i.Hear(c.Note)
	}
	if err := kernel.HoldIssue(tx, i, false); err != nil {
		return err
	}
	i.Failures, i.NotBefore = 0, time.Time{}
	if tx.Env.Actor.Kind() == pawl.KindUser {
		i.Retries, i.Conflicts = 0, 0
	}
	if i.State == string(board.IssueFailed) {
		err = kernel.MoveBy(tx, board.Issue, i, string(board.Retry), board.Replan, c.Note, nil, nil)
	} else if i.State != string(board.IssueRegistered) {
		err = pawl.Fail(pawl.CodeInvalidTransition, "kernel.issue_not_failed", i.Label, i.State)
	}
	placeIssue(tx, i)
	return err
}
