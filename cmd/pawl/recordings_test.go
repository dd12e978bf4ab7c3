package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pawl/kernel"
	"pawl/store/recording"
)

// recordedLine is what the tests look at in one line of a recording.
type recordedLine struct {
	Command  string
	Decision struct {
		Moves   []struct{ On, To string }
		Records []struct{ Event kernel.AuditEvent }
		Rows    []struct {
			Kind kernel.Kind
			Doc  struct {
				Blocked *struct{ Kind kernel.BlockedKind }
			}
		}
	}
}

// recordedRun are the lines of a run.
type recordedRun []recordedLine

// gave reports whether a command was given.
func (r recordedRun) gave(name string) bool {
	return slices.ContainsFunc(r, func(l recordedLine) bool { return l.Command == name })
}

// noted reports whether there is a record of an event.
func (r recordedRun) noted(event kernel.AuditEvent) bool {
	for _, l := range r {
		for _, e := range l.Decision.Records {
			if e.Event == event {
				return true
			}
		}
	}
	return false
}

// ended is the state that a kind of row came to last.
func (r recordedRun) ended(kind kernel.Kind) (state string) {
	for _, l := range r {
		for _, m := range l.Decision.Moves {
			if on, _, _ := strings.Cut(m.On, " "); on == string(kind) {
				state = m.To
			}
		}
	}
	return state
}

// blocked reports whether the session was ever blocked for a reason.
func (r recordedRun) blocked(kind kernel.BlockedKind) bool {
	for _, l := range r {
		for _, row := range l.Decision.Rows {
			if b := row.Doc.Blocked; row.Kind == kernel.KindSession && b != nil && b.Kind == kind {
				return true
			}
		}
	}
	return false
}

// landed reports whether the result came to the branch.
func (r recordedRun) landed() bool {
	return r.noted("RESULT_LANDED") && r.ended(kernel.KindTask) == "done" && r.ended(kernel.KindRun) == "completed"
}

// over reports whether the run is over without a result.
func (r recordedRun) over() bool {
	return r.ended(kernel.KindTask) == "canceled" && r.ended(kernel.KindRun) == "completed"
}

// recordedEnds are the ends that the recordings come to, as their lines show.
var recordedEnds = map[string]func(recordedRun) bool{
	"landed":            recordedRun.landed,
	"landed in place":   func(r recordedRun) bool { return r.noted("RESULT_IN_PLACE") },
	"denied":            func(r recordedRun) bool { return r.gave("Deny") && r.over() },
	"plan edited":       func(r recordedRun) bool { return r.noted(kernel.AuditPlanEdited) && r.landed() },
	"blocked":           func(r recordedRun) bool { return r.ended(kernel.KindSession) == "BLOCKED" },
	"rolled back":       func(r recordedRun) bool { return r.gave("Rollback") && r.over() },
	"skipped":           func(r recordedRun) bool { return r.gave("Skip") && r.ended(kernel.KindRun) == "completed" },
	"canceled":          func(r recordedRun) bool { return r.gave("CancelRun") && r.over() },
	"paused, resumed":   func(r recordedRun) bool { return r.noted(kernel.AuditSessionPaused) && r.landed() },
	"killed, resumed":   func(r recordedRun) bool { return r.noted(kernel.AuditEffectRecovered) && r.landed() },
	"killed, answered":  func(r recordedRun) bool { return r.noted(kernel.AuditEffectAnswered) && r.landed() },
	"repaired":          func(r recordedRun) bool { return r.noted(kernel.AuditFixPlanned) && r.landed() },
	"undone":            func(r recordedRun) bool { return r.noted(kernel.AuditResultUndone) },
	"step undone":       func(r recordedRun) bool { return r.noted(kernel.AuditStepUndone) },
	"question answered": func(r recordedRun) bool { return r.noted(kernel.AuditQuestionsAnswered) && r.landed() },
	"asked at work":     func(r recordedRun) bool { return r.noted("QUESTION_ANSWERED") && r.landed() },
	"budget refused":    func(r recordedRun) bool { return r.blocked(kernel.BlockedBudget) },
	"board: a conflict": func(r recordedRun) bool { return r.noted(kernel.AuditLandingConflict) },
}

// published are the fields of recorded documents that this version writes otherwise: those that are gone, and those in
// their place (docs/spec/board.md#earlier, docs/spec/session.md#earlier). Nothing else of a decision may be different.
var published = map[kernel.Kind][2]string{
	kernel.KindIssue:   {"paused released waiting winding", "dependents hold work"},
	kernel.KindSession: {"paused rolling", "dispatch rollback"},
}

// rewritten adds the fields of a run's documents that are read from them and not written again, or written without
// having been there, by kind.
func rewritten(t *testing.T, raw []byte, gone, fresh map[kernel.Kind]map[string]bool) {
	t.Helper()
	for text := range bytes.Lines(raw) {
		var l struct {
			Decision struct {
				Rows []struct {
					Kind kernel.Kind
					Doc  json.RawMessage
				}
			}
		}
		if err := json.Unmarshal(text, &l); err != nil {
			t.Fatal(err)
		}
		for _, row := range l.Decision.Rows {
			doc := map[kernel.Kind]kernel.Document{
				kernel.KindIssue: &kernel.Issue{}, kernel.KindSession: &kernel.Session{},
				kernel.KindRun: &kernel.Run{}, kernel.KindTask: &kernel.Task{},
			}[row.Kind]
			if doc == nil || row.Doc == nil {
				continue
			}
			was, is := map[string]json.RawMessage{}, map[string]json.RawMessage{}
			err := kernel.Decode(kernel.Row{Kind: row.Kind, Doc: row.Doc}, doc)
			again, flaw := json.Marshal(doc)
			if err := errors.Join(err, flaw, json.Unmarshal(row.Doc, &was), json.Unmarshal(again, &is)); err != nil {
				t.Fatal(err)
			}
			for name := range was {
				if _, ok := is[name]; !ok {
					put(gone, row.Kind, name)
				}
			}
			for name := range is {
				if _, ok := was[name]; !ok {
					put(fresh, row.Kind, name)
				}
			}
		}
	}
}

func put(in map[kernel.Kind]map[string]bool, kind kernel.Kind, name string) {
	if in[kind] == nil {
		in[kind] = map[string]bool{}
	}
	in[kind][name] = true
}

// meantChanges are what decisions write now and did not when the runs were recorded: an issue keeps what it failed of, a
// tweak leaves no package in the archive, that the mode was taken is recorded, the end of a task is recorded with its
// reason, each exchange of an agent at work keeps the tree, a package has a language, a task the calls that may run
// once and what a person said who helped, and a checkpoint in place keeps what git ignores.
var meantChanges = map[string]*regexp.Regexp{
	"rows": regexp.MustCompile(`^(issue \S+\.(error|errors|executed_at) = |effect \S+\.effect\.spec\.files = \[\{"(content":"# |append":true,"content":"# Task Archive )|` +
		`task \S+\.(cleanup_summary\S*|mode_disposition\S*|ran_once\S*|help|place\.kept) = |effect \S+\.effect\.(spec\.ignored|spec\.kept|place\.kept) = |checkpoint \S+\.place\.kept = |task \S+: running$|solution \S+\.lang = )`),
	"records": regexp.MustCompile(`^(flow main: MODE_AUTO_PLAN|` +
		`task \S+: (STATE_TRANSITION_(FAILED|CANCELED)\b.*|(AUTONOMOUS_BLOCKED|TREE_RESTORED)\b.*))$`),
}

// meant reports whether a replay differs only by what is meant, and in no move but those of a rollback, which are made
// once it is archived.
func meant(t *testing.T, out string) bool {
	t.Helper()
	type change struct {
		What         string
		Decided, Now []string
	}
	var r struct {
		Differences []struct {
			Decided, Now json.RawMessage
			Changes      []change
		}
	}
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Error(err)
	}
	for _, d := range r.Differences {
		archives := slices.ContainsFunc(d.Changes, func(c change) bool {
			return c.What == "effects" && c.Decided == nil && slices.Equal(c.Now, []string{"archive.write"})
		})
		if archives && d.Now == nil && bytes.Contains(d.Decided, []byte(`"rule":"S10","event":"ROLLBACK"`)) {
			continue
		}
		if string(d.Decided) != string(d.Now) {
			return false
		}
		for _, c := range d.Changes {
			for _, field := range append(c.Decided, c.Now...) {
				if ok := meantChanges[c.What]; ok == nil || !ok.MatchString(field) {
					return false
				}
			}
		}
	}
	return len(r.Differences) > 0
}

// TestRecordedRuns makes the decisions of all recordings again, and fails where one comes out differently. Their ends
// are read from their lines, so that no end goes unnoticed when a recording does.
func TestRecordedRuns(t *testing.T) {
	t.Parallel()
	u := small(t)
	u.must(0, "init", "--bare")
	runs, ends := 0, map[string]int{}
	gone, fresh := map[kernel.Kind]map[string]bool{}, map[kernel.Kind]map[string]bool{}
	for _, s := range recordedScenes {
		files, err := filepath.Glob(filepath.Join(recordedAt, s.name+".*.jsonl.gz"))
		if err != nil || len(files) == 0 && s.name != storeScene {
			t.Errorf("%s: no recording, %v", s.name, err)
		}
		u.configured(s.settings)
		for _, file := range files {
			runs++
			raw := unzipped(t, file)
			rewritten(t, raw, gone, fresh)
			u.recorded(runs, raw)
			a := u.pawl("replay", fmt.Sprint(runs), "--json")
			var r replayed
			if err := json.Unmarshal([]byte(a.out), &r); a.code != 0 && !meant(t, a.out) || err != nil {
				t.Errorf("%s: %v", file, a)
			}
			if r.Decisions != bytes.Count(raw, []byte("\n")) || r.Decisions < 6 || r.Lost != 0 {
				t.Errorf("%s: %d decisions, %d lost", file, r.Decisions, r.Lost)
			}
			for name, is := range recordedEnds {
				if is(recordedLines(t, raw)) {
					ends[name]++
				}
			}
		}
	}
	all, _ := filepath.Glob(filepath.Join(recordedAt, "*.jsonl.gz"))
	if runs < 20 || len(all) != runs {
		t.Errorf("%d runs of %d files", runs, len(all))
	}
	for name := range recordedEnds {
		if ends[name] == 0 {
			t.Errorf("no run is recorded that ends like this: %s", name)
		}
	}
	for _, kind := range []kernel.Kind{kernel.KindIssue, kernel.KindSession, kernel.KindRun, kernel.KindTask} {
		got := [2]string{strings.Join(slices.Sorted(maps.Keys(gone[kind])), " "),
			strings.Join(slices.Sorted(maps.Keys(fresh[kind])), " ")}
		if got != published[kind] {
			t.Errorf("documents of a %s are written with %q in the place of %q, want %q", kind, got[1], got[0],
				published[kind])
		}
	}
	t.Logf("%d runs: %v", runs, ends)
}

// TestRecordedDecisionAltered alters one decision of a recording: the replay names its line, and one whose digest is
// not that of what it says is not replayed at all.
func TestRecordedDecisionAltered(t *testing.T) {
	t.Parallel()
	u := small(t)
	u.must(0, "init", "--bare")
	for _, name := range []string{"landed.1", "killed-resumed.1", "approved-after-an-edit.1", "paused-resumed.1"} {
		raw := unzipped(t, filepath.Join(recordedAt, name+".jsonl.gz"))
		all := bytes.SplitAfter(raw, []byte("\n"))
		at := slices.IndexFunc(all, func(l []byte) bool { return bytes.Contains(l, []byte(`"to":"EXECUTING"`)) })
		line := all[at]
		all[at] = altered(t, line, true)
		u.recorded(1, slices.Concat(all...))
		a := u.must(6, "replay", "1", "--json")
		var r replayed
		if err := json.Unmarshal([]byte(a.out), &r); err != nil || len(r.Differences) == 0 ||
			r.Differences[0].Line != at+1 || slices.ContainsFunc(r.Differences[1:], difference.moved) {
			t.Errorf("%s: line %d, %v", name, at+1, a)
		}
		all[at] = altered(t, line, false)
		u.recorded(1, slices.Concat(all...))
		u.must(13, "replay", "1")
	}
}

// TestRecordedStore opens a workspace that an earlier pawl left, and goes on with it.
func TestRecordedStore(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	unpacked(t, filepath.Join(recordedAt, storeScene+".tar.gz"), u.dir)
	u.must(5, "init", "--adopt", ".") // it was made by another user, with an earlier version that had its data in the tree
	u.must(0, "init", "--adopt", ".", "--yes")
	u.must(0, "audit", "verify")
	st := u.state("CONFIRMING")
	if st.Approval == nil {
		t.Fatalf("nothing waits: %+v", st)
	}
	log := u.must(0, "log").out
	for run, want := range map[string]string{
		"RUN-1": "claimed, not proven", "RUN-2": "rolled_back", "RUN-3": "skipped", "RUN-4": "CONFIRMING",
		"RUN-1.1": "claimed, not proven", "RUN-2.1": "EXECUTING",
	} {
		if !regexp.MustCompile(run + ` .* ` + want + ` `).MatchString(log) {
			t.Errorf("%s is not %s:\n%s", run, want, log)
		}
		u.must(0, "show", run)
		if a := u.pawl("replay", run, "--json"); a.code != 0 && !meant(t, a.out) {
			t.Errorf("%s: %v", run, a)
		}
	}
	u.issueIs("1", "completed", "")
	u.must(0, "approve", st.Approval.Hash, "--yes")
	if last := u.state("IDLE").Last; last == nil || last.Landing != "landed" || u.read("waits.txt") != "x\n" {
		t.Errorf("what waited did not land: %+v", last)
	}
	u.must(0, "config", "set", "timeouts.lease", "20s") // for so long the claim of the other machine is waited for
	u.must(0, "worker", "--yes")
	u.issueIs("2", "executing", "asks") // nobody can know whether the command did its work before the kill
	u.must(0, "fix", "--issue", "2", "--answer", "retry")
	u.issueIs("2", "completed", "")
	if u.read("p2.txt") != "x\n" || u.read("ran.txt") != "ran\nran\n" {
		t.Errorf("the issue whose worker was killed did not land: %q", u.read("ran.txt"))
	}
	if n := u.git("rev-list", "--count", "HEAD"); n != "5" {
		t.Errorf("%s commits, want the first and one of each run that landed", n)
	}
	u.must(0, "undo", "RUN-1")
	if u.read("made.txt") != "" {
		t.Error("the run of the earlier pawl was not undone")
	}
	u.must(0, "audit", "verify")
	u.quiet()
}

// configured writes the user's settings.
func (u *user) configured(settings string) {
	u.t.Helper()
	dir := filepath.Join(u.home, ".config", "pawl")
	err := errors.Join(os.MkdirAll(dir, 0o755), os.WriteFile(filepath.Join(dir, "config.yaml"), []byte(settings),
		0o644))
	if err != nil {
		u.t.Fatal(err)
	}
}

// recorded puts the decisions of a run into the user's workspace.
func (u *user) recorded(run int, raw []byte) {
	u.t.Helper()
	u.setOwn(filepath.Join(recording.Dir, fmt.Sprint("RUN-", run), recording.DecisionsFile), string(raw))
}

// recordedLines reads a recording.
func recordedLines(t *testing.T, raw []byte) (out recordedRun) {
	t.Helper()
	for text := range bytes.Lines(raw) {
		var l recordedLine
		if err := json.Unmarshal(text, &l); err != nil {
			t.Fatal(err)
		}
		out = append(out, l)
	}
	return out
}

// altered returns a line of which one move has another rule. Where it is to be whole, its digest is that of what it
// says.
func altered(t *testing.T, raw []byte, whole bool) []byte {
	t.Helper()
	start := bytes.Index(raw, []byte(`"rule":"`)) + len(`"rule":"`)
	out := slices.Concat(raw[:start], []byte("X"), raw[start:])
	if !whole {
		return out
	}
	var l struct {
		Decision struct {
			Moves   json.RawMessage   `json:"moves,omitempty"`
			Effects json.RawMessage   `json:"effects,omitempty"`
			Records json.RawMessage   `json:"records,omitempty"`
			Rows    []json.RawMessage `json:"rows,omitempty"`
			Result  json.RawMessage   `json:"result"`
		}
		Digest string
	}
	digest := func(raw []byte) string {
		if err := json.Unmarshal(raw, &l); err != nil {
			t.Fatal(err)
		}
		for i, row := range l.Decision.Rows { // a row's document stands behind all else of it, and has its own digest
			if at := bytes.Index(row, []byte(`,"doc":`)); at > 0 {
				l.Decision.Rows[i] = append(slices.Clone(row[:at]), '}')
			}
		}
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(l.Decision); err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(bytes.TrimSuffix(b.Bytes(), []byte("\n")))
		return hex.EncodeToString(sum[:16])
	}
	was := digest(raw)
	if was != l.Digest {
		t.Fatalf("digest %s, want %s", was, l.Digest)
	}
	return bytes.Replace(out, []byte(was), []byte(digest(out)), 1)
}

// unzipped reads a compressed file.
func unzipped(t *testing.T, path string) []byte {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	r, err := gzip.NewReader(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	out, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// unpacked makes the files of an archive in a folder.
func unpacked(t *testing.T, path, dir string) {
	t.Helper()
	for r := tar.NewReader(bytes.NewReader(unzipped(t, path))); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		at := filepath.Join(dir, filepath.FromSlash(h.Name))
		if h.Typeflag == tar.TypeDir {
			err = os.MkdirAll(at, 0o755)
		} else {
			raw, failed := io.ReadAll(r)
			err = errors.Join(failed, os.WriteFile(at, raw, h.FileInfo().Mode().Perm()))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}
