package agent

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"pawl/kernel/effect"
	"pawl/store/logs"
	"pawl/text/display"
)

// maxOutput bounds the output of one call in the log, in bytes. The end stays: commands print their errors there.
const maxOutput = 1 << 20

// Call is a command or another tool that an agent runs itself, and how it ended, as the agent's stream reports it. pawl
// did not see it happen: it is no evidence.
type Call struct {
	ID      string // "" if the stream never reports a result for it
	What    string // what it runs or which file it changes, "" if the event does not name it
	Command bool
	Output  string
	Exit    *int          // nil if the stream has no exit code
	Failed  bool          // the stream reports a failure, with or without an exit code
	Took    time.Duration // 0 if the stream has no duration; pawl then measures from when it read of the start

	since time.Time
	cut   bool // the agent's process ended before a result came
}

// Transcript records what an agent says and runs: all of it in the log, and as safe, short lines to those who watch. It
// is safe for concurrent use.
type Transcript struct {
	log      *logs.Log
	progress effect.Progress
	text     func(key string, args ...any) string
	safe     func(text string) string // removes secrets
	// answers says that the agent is asked for a document, which pawl reads: what it says is only logged.
	answers bool

	mu    sync.Mutex
	open  []Call // in the order in which they started
	ended map[string]bool
	last  string // the call that was shown last, "" after anything else
}

// NewTranscript returns the transcript of a piece of work. Text renders a key of the catalogue. Progress may be nil.
func NewTranscript(ctx context.Context, log *logs.Log, progress effect.Progress,
	text func(key string, args ...any) string) *Transcript {
	return &Transcript{log: log, progress: progress, text: text, ended: map[string]bool{},
		safe: func(text string) string { return logs.Mask(ctx, text) }}
}

// Say records a text of the agent.
func (t *Transcript) Say(text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if text = t.safe(text); t.answers {
		t.record("", text)
		return
	}
	t.show("", text)
}

// Begin records that a call starts. A second event about the same call may name it better.
func (t *Transcript) Begin(c Call) {
	t.mu.Lock()
	defer t.mu.Unlock()
	i := slices.IndexFunc(t.open, func(o Call) bool { return o.ID == c.ID })
	switch {
	case c.What == "", t.ended[c.ID], i >= 0 && t.open[i].What == c.What:
		return
	case i >= 0:
		t.open[i].What, t.open[i].Command = c.What, c.Command
	case c.ID != "":
		c.since = time.Now()
		t.open = append(t.open, c)
	}
	t.show(c.ID, t.safe("▸ "+c.What))
}

// End records the result of a call. A repeated result is ignored.
func (t *Transcript) End(c Call) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.end(c)
}

// Cut records that the agent's process ended: no more results come, and another process may use the same ids.
func (t *Transcript) Cut() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for len(t.open) > 0 {
		t.end(Call{ID: t.open[0].ID, cut: true})
	}
	t.ended = map[string]bool{}
}

// end shows the end of a call, which it names unless its start was shown right before. Of a call that is no command
// only a failure is shown: its output is mostly a file that the agent read.
func (t *Transcript) end(c Call) {
	i := slices.IndexFunc(t.open, func(o Call) bool { return o.ID == c.ID })
	switch {
	case t.ended[c.ID], c.ID+c.What == "":
		return
	case i >= 0:
		c.What, c.Command = t.open[i].What, t.open[i].Command
		c.Took = cmp.Or(c.Took, time.Since(t.open[i].since))
		t.open = slices.Delete(t.open, i, i+1)
	case c.What != "":
		t.show(c.ID, t.safe("▸ "+c.What))
	default: // nothing says what it was
		c.What, c.Command = c.ID, true
	}
	t.ended[c.ID] = c.ID != ""
	c.Failed = c.Failed || c.Exit != nil && *c.Exit != 0
	if !c.Command && !c.Failed {
		return
	}
	lines := append(t.output(c.Output), t.status(c))
	if t.last != c.ID {
		lines = slices.Insert(lines, 0, t.safe("◂ "+Line(c.What)))
	}
	t.show("", lines...)
}

// status says how a call ended, in words that leave it to the agent.
func (t *Transcript) status(c Call) (text string) {
	text = t.text("agent.call_ended")
	switch {
	case c.cut:
		text = t.text("agent.call_no_result")
	case c.Exit != nil:
		text = t.text("agent.call_exit", *c.Exit)
	case c.Failed:
		text = t.text("agent.call_failed")
	}
	if c.Took > 0 {
		text += fmt.Sprintf(" · %.1fs", c.Took.Seconds())
	}
	return map[bool]string{true: "✗ ", false: "└ "}[c.Failed || c.cut] + text
}

// output marks the lines of an output. Secrets are masked before it is cut and marked, or not all would be found.
func (t *Transcript) output(raw string) (lines []string) {
	text := strings.TrimRight(t.safe(logs.Plain([]byte(raw))), "\n")
	if cut := len(text) - maxOutput; cut > 0 {
		text = t.text("agent.call_cut", display.Size(uint64(cut))) + "\n" + display.Tail(text, maxOutput)
	}
	for l := range strings.Lines(text) {
		lines = append(lines, logs.OutputMark+strings.TrimSuffix(l, "\n"))
	}
	return lines
}

// record logs lines about a call, "" for none.
func (t *Transcript) record(about string, lines ...string) {
	t.last = about
	_, _ = io.WriteString(t.log, strings.TrimSuffix(strings.Join(lines, "\n"), "\n")+"\n")
}

// show records lines, and gives them to those who watch.
func (t *Transcript) show(about string, lines ...string) {
	t.record(about, lines...)
	for _, l := range logs.Brief(lines) {
		if l = Line(l); l != "" && t.progress != nil {
			t.progress(l)
		}
	}
}
