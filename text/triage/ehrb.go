package triage

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"pawl/text/plan"
	"pawl/text/policy"
)

// RiskKind is a kind of extremely high risk (docs/spec/workflow.md#ehrb).
type RiskKind string

// The kinds. They are append-only.
const (
	RiskProduction RiskKind = "production"       // what is live is changed
	RiskDataLoss   RiskKind = "data_loss"        // data is destroyed
	RiskHistory    RiskKind = "history"          // commits, or changes that are in no commit, are destroyed
	RiskOutage     RiskKind = "outage"           // machines or processes are put down
	RiskPrivilege  RiskKind = "privilege"        // rights are widened or taken
	RiskSecret     RiskKind = "secret"           // passwords, keys or tokens get where they can be read
	RiskPersonal   RiskKind = "personal_data"    // data of persons leaves where it belongs
	RiskPayment    RiskKind = "payment"          // money is moved, or how it is moved changes
	RiskExternal   RiskKind = "external_service" // something reaches others and cannot be taken back
	RiskAuth       RiskKind = "auth_bypass"      // a check of identity or rights is taken away
	RiskUnclear    RiskKind = "unclear"          // it sounds dangerous, and it cannot be told what it would do
)

// Kinds returns every kind.
func Kinds() []RiskKind {
	return []RiskKind{
		RiskProduction, RiskDataLoss, RiskHistory, RiskOutage, RiskPrivilege, RiskSecret, RiskPersonal, RiskPayment,
		RiskExternal, RiskAuth, RiskUnclear,
	}
}

// Stance says whether a finding would be done.
type Stance string

// The stances.
const (
	// StanceAction is something that the text, the command or the change would do.
	StanceAction Stance = "action"
	// StanceMention is something that is only spoken of: forbidden, quoted, asked about, in a comment, in
	// documentation, in the past, or a case that code is to handle.
	StanceMention Stance = "mention"
	// StanceUnsure is something of which it cannot be told whether it would be done: a person is asked.
	StanceUnsure Stance = "unsure"
)

// Finding is one place at which something of extremely high risk is done or mentioned. Quote is what the range covers.
type Finding struct {
	Kind  RiskKind `json:"kind"`
	Quote string   `json:"quote"`
	Span
	Stance Stance `json:"stance"`
}

// Acts reports whether one of the findings is an action.
func Acts(list []Finding) bool {
	for _, f := range list {
		if f.Stance == StanceAction {
			return true
		}
	}
	return false
}

// Asks reports whether a person has to be asked about one of the findings.
func Asks(list []Finding) bool {
	return slices.ContainsFunc(list, func(f Finding) bool { return f.Stance != StanceMention })
}

// Placed is a finding in one field of a plan.
type Placed struct {
	Where string `json:"where"` // the path of the field, as "steps[1].tool_calls[0].args_hint.command"
	Finding
}

// Detect finds what is of extremely high risk in a text that a person or a model wrote: a requirement, an answer, the
// words of a plan. It reads commands and SQL in the text as well. Where it cannot tell whether something is done to
// what is live, or only at home, it is an action, so that a person is asked. A text of any length is read to its end,
// in time that grows with its length; of what it finds at most 200 places are returned, actions before mentions where
// there are more.
func Detect(text string) []Finding {
	f := fold(text)
	d := detector{folded: f, quotes: quotes(text)}
	for _, c := range clauses(f.text, d.quotes, f) {
		d.clause(c)
	}
	return d.result()
}

// DetectCommand finds what is of extremely high risk in a shell command: what policy says that it would do, and
// secret values.
func DetectCommand(command string) []Finding {
	d := detector{folded: folded{src: command}}
	for _, danger := range policy.Dangers(command) {
		at := Span{danger.Start, danger.End}
		d.found = append(d.found, Finding{RiskKind(danger.Harm), at.In(command), at, StanceAction})
	}
	d.secretValues(Span{0, len(command)}, StanceAction)
	return d.result()
}

type detector struct {
	folded
	quotes []quote
	found  []Finding
	judged int
	before clause   // the clause before the one that is read
	kind   RiskKind // of what is judged now
	bidden bool     // it is the first word of its clause
	fired  []string // the rules that found something
	// certain says that a command, SQL or a secret value was found in the sentence, which no guess doubts.
	certain bool
}

// result orders the findings by their place, once for each kind and place.
func (d *detector) result() []Finding {
	sort.SliceStable(d.found, func(i, j int) bool {
		a, b := d.found[i], d.found[j]
		if a.Start != b.Start {
			return a.Start < b.Start
		}
		return a.End > b.End
	})
	out := []Finding{}
	last := map[RiskKind]int{} // one more than the index of the kind's last finding
	for _, f := range d.found {
		if i := last[f.Kind]; i > 0 && f.Start < out[i-1].End {
			if f.Stance == StanceAction {
				out[i-1].Stance = StanceAction
			}
			continue
		}
		out = append(out, f)
		last[f.Kind] = len(out)
	}
	if len(out) > maxFound {
		sort.SliceStable(out, func(i, j int) bool {
			return out[i].Stance == StanceAction &&
				out[j].Stance != StanceAction
		})
		out = out[:maxFound]
		sort.SliceStable(out, func(i, j int) bool { return out[i].Start < out[j].Start })
	}
	return out
}

func (d *detector) add(kind RiskKind, i, j int, stance Stance) {
	at := d.span(i, j)
	d.found = append(d.found, Finding{Kind: kind, Quote: at.In(d.src), Span: at, Stance: stance})
}

// clause finds what one clause holds.
func (d *detector) clause(c clause) {
	d.meanings(c)
	d.before = c
	n := len(d.found)
	d.sql(c)
	d.commandsIn(c)
	d.secretsIn(c)
	d.certain = d.certain || len(d.found) > n
}

// DetectPlan finds what is of extremely high risk in the words of a plan, in the commands of its checks and in the
// calls of its steps. Constraints say what must not happen and are read like the rest: "do not touch production" is a
// mention.
func DetectPlan(p plan.Plan) []Placed {
	var out []Placed
	text := func(where, s string) {
		for _, f := range said(s) {
			out = append(out, Placed{where, f})
		}
	}
	command := func(where, s string) {
		for _, f := range DetectCommand(s) {
			out = append(out, Placed{where, f})
		}
	}
	text("goal", p.Goal)
	for i, c := range p.Constraints {
		text(fmt.Sprintf("constraints[%d]", i), c)
	}
	for i, s := range p.Steps {
		at := fmt.Sprintf("steps[%d]", i)
		text(at+".title", s.Title)
		text(at+".intent", s.Intent)
		for j, c := range s.ToolCalls {
			for _, f := range detectCall(c) {
				out = append(out, Placed{fmt.Sprintf("%s.tool_calls[%d].args_hint.%s", at, j, f.Where), f.Finding})
			}
		}
		for j, a := range s.ExpectedArtifacts {
			if a.Type == plan.ArtifactCommand {
				command(fmt.Sprintf("%s.expected_artifacts[%d].value", at, j), a.Value)
			}
		}
	}
	for i, c := range p.Verification.Commands {
		command(fmt.Sprintf("verification.commands[%d]", i), c)
	}
	return out
}

// said are the findings in words of a plan. What the rules find is doubted as in a requirement; nothing is guessed
// beside that, because the calls of a plan are judged by themselves.
func said(text string) []Finding {
	found := Detect(text)
	if !slices.ContainsFunc(found, func(f Finding) bool { return f.Stance == StanceAction }) {
		return found
	}
	return slices.DeleteFunc(Weigh(text), func(f Finding) bool { return f.Kind == RiskUnclear })
}

// lineStart returns where the line of a byte begins.
func lineStart(s string, at int) int { return strings.LastIndexByte(s[:at], '\n') + 1 }
