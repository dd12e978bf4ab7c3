package triage

import (
	"slices"
	"strings"

	"pawl"
	"pawl/machine/workflow"
)

// Layer is the layer of the routing that decided (docs/spec/workflow.md#routing).
type Layer string

// The three layers, in the order in which they are tried.
const (
	LayerContext Layer = "context" // the input goes on with what runs
	LayerTool    Layer = "tool"    // it names a command or an external tool
	LayerIntent  Layer = "intent"  // it is read for what it wants
)

// Kind says what an input is to do.
type Kind string

// The kinds. They are append-only.
const (
	// KindCommand gives a "~command": Command and Argument are set.
	KindCommand Kind = "command"
	// KindUnknownCommand looks like a command that does not exist: Command is what was written, Near what may be meant.
	KindUnknownCommand Kind = "unknown_command"
	// KindTool calls an external tool by its sign: Tool and Argument are set.
	KindTool Kind = "tool"
	// KindUnknownTool looks like a tool that does not exist; Near holds what may be meant.
	KindUnknownTool Kind = "unknown_tool"
	// KindToolInput goes on with the external tool that is active.
	KindToolInput Kind = "tool_input"
	// KindReply answers what the flow waits for; Choice is set where the reply is one of the choices.
	KindReply Kind = "reply"
	// KindContinue asks the running flow to go on.
	KindContinue Kind = "continue"
	// KindControl takes hold of the work in one word: Control is set.
	KindControl Kind = "control"
	// KindChange wants something changed: it is evaluated.
	KindChange Kind = "change"
	// KindQuestion wants an answer, or only talks: nothing of the state changes.
	KindQuestion Kind = "question"
)

// Choice is a reply that picks one of what was offered.
type Choice string

// The choices that every question of the flow understands. ChoiceMore is a reply in words of its own.
const (
	ChoiceYes    Choice = "yes"
	ChoiceNo     Choice = "no"
	ChoiceCancel Choice = "cancel"
	ChoiceAsIs   Choice = "as_is" // go on with what there is (以现有需求继续, docs/spec/workflow.md#evaluation)
	ChoiceMore   Choice = "more"  // the words supplement what was said
)

// Control is a word that takes hold of the work (docs/spec/session.md#routing). Its value is the command of that name.
type Control string

// The controls.
const (
	ControlCancel   Control = "cancel"
	ControlStop     Control = "stop"
	ControlRollback Control = "rollback"
	ControlSkip     Control = "skip"
)

// Wait is what the flow waits for from the person.
type Wait string

// What it may wait for. Whatever it is, a question, thanks, a greeting and a command are no reply.
const (
	WaitNothing Wait = ""
	WaitChoice  Wait = "choice" // one of the choices
	WaitChange  Wait = "change" // one of the choices, or words that say what is to be different
	WaitWords   Wait = "words"  // answers in words of the person's own
)

// Situation is what the routing has to know of the state. The zero value is an idle system without external tools.
type Situation struct {
	// Vars are the variables of the flow; ActiveTool says that an external tool has taken over.
	Vars workflow.Vars
	// Waiting says what the flow waits for.
	Waiting Wait
	// Tools are the names of the external tools, without their sign, as "deploy-helper" or "github/create_issue".
	Tools []string
}

// Reason is a message of the catalogue that says why.
type Reason struct {
	Key  string   `json:"key"`
	Args []string `json:"args,omitempty"`
}

func because(key string, args ...string) Reason { return Reason{Key: key, Args: args} }

// Route is where an input goes.
type Route struct {
	Layer Layer `json:"layer"`
	Kind  Kind  `json:"kind"`
	// Command is the command as its table writes it ("~auto"), or what was written where there is no such command.
	Command string `json:"command,omitempty"`
	// Tool is the name of an external tool without its sign.
	Tool string `json:"tool,omitempty"`
	// Argument is what the input says beside the command or the tool. For every other kind it is the whole input.
	Argument string `json:"argument,omitempty"`
	// At is where the command or tool stands in the input, and where the words stand that decided the intent; empty
	// where no single place decided.
	At Span `json:"at,omitzero"`
	// Others are the names of further commands in the input. Only the first is given; the caller says so.
	Others []string `json:"others,omitempty"`
	// Near are names that may be meant, the nearest first.
	Near []string `json:"near,omitempty"`
	// Choice is what a reply picks; "" where it is neither a choice nor words of the kind that is waited for.
	Choice  Choice  `json:"choice,omitempty"`
	Control Control `json:"control,omitempty"`
	Why     Reason  `json:"why"`
}

// Decide reads an input and says where it goes: first by what is running, then by commands and tools that it names,
// then by what it wants. Nothing of the workspace is looked at. A command counts in every situation and wherever in the
// input it stands, so that there is always a way out of a tool and of a question. The error is CodeInvalid for an input
// that is empty, no text, or longer than MaxText.
func Decide(input string, now Situation) (Route, error) {
	if err := readable(input, "triage.Decide"); err != nil {
		return Route{}, err
	}
	f := fold(input)
	r := router{f: f, quotes: quotes(input), now: now, input: strings.TrimSpace(input)}
	for _, layer := range []func() (Route, bool){r.command, r.running, r.tool} {
		if out, ok := layer(); ok {
			return out, nil
		}
	}
	return r.intent(), nil
}

type router struct {
	f      folded
	quotes []quote
	now    Situation
	input  string
}

// whole is a route for the whole input.
func (r router) whole(layer Layer, kind Kind, why Reason) Route {
	return Route{Layer: layer, Kind: kind, Argument: r.input, Why: why}
}

// command finds the first command that the input gives. A command that is only talked about is none.
func (r router) command() (Route, bool) {
	var given *word
	var others []string
	for _, w := range tildes(r.f, r.quotes) {
		info, known := workflow.LookupCommand(w.name)
		switch {
		case given != nil:
			if known && !slices.Contains(others, info.Name) && info.Name != given.name {
				others = append(others, info.Name)
			}
		case known && r.talkedAbout(w):
		case known:
			w.name = info.Name
			given = &w
		case r.first(w) || slip(w.name):
			if u, ok := r.unknown(w); ok {
				return u, true
			}
		}
	}
	if given == nil {
		return Route{}, false
	}
	return Route{
		Layer: LayerTool, Kind: KindCommand, Command: given.name, Argument: argument(r.f.src, *given), At: given.Span,
		Others: others,
		Why:    because("triage.route_command", given.name),
	}, true
}

// first reports whether a word begins the input.
func (r router) first(w word) bool { return strings.TrimSpace(r.f.text[:w.at]) == "" }

func (r router) unknown(w word) (Route, bool) {
	if w.name == "~?" {
		return Route{}, false
	}
	return Route{
		Layer: LayerTool, Kind: KindUnknownCommand, Command: w.name, Argument: argument(r.f.src,
			w), At: w.Span, Near: nearCommands(w.name),
		Why: because("triage.route_unknown_command", w.name),
	}, true
}

// talkedAbout reports whether a command is asked about or refused rather than given: "what does ~clean do?", "不要用
// ~auto".
func (r router) talkedAbout(w word) bool {
	before, after := r.f.text[:w.at], r.f.text[r.f.find(w.End):]
	if i := strings.LastIndexAny(before, "\n.;!?。"); i >= 0 {
		before = before[i+1:]
	}
	if i := strings.IndexAny(after, "\n;!。"); i >= 0 {
		after = after[:i]
	}
	return refusedBefore.Get().MatchString(before) || askedBefore.Get().MatchString(before) ||
		askedAfter.Get().MatchString(after)
}

// running is the first layer: an active tool, a flow that waits, a word that takes hold of the work, a flow that is to
// go on.
func (r router) running() (Route, bool) {
	choice := ReadChoice(r.input)
	switch text := bare(r.input); {
	case r.now.Vars.ActiveTool != "":
		out := r.whole(LayerContext, KindToolInput, because("triage.route_tool_input", r.now.Vars.ActiveTool))
		out.Tool = r.now.Vars.ActiveTool
		return out, true
	case r.now.Waiting != WaitNothing && (choice == ChoiceYes || choice == ChoiceNo || choice == ChoiceCancel ||
		choice == ChoiceAsIs && r.now.Waiting == WaitWords):
		return r.reply(choice), true
	case r.controls(text) != "":
		out := r.whole(LayerContext, KindControl, because("triage.route_control"))
		out.Control = r.controls(text)
		return out, true
	case r.now.Waiting != WaitNothing:
		return r.worded()
	case r.now.Vars.Active() && goesOn.Get().MatchString(text):
		return r.whole(LayerContext, KindContinue, because("triage.route_continue")), true
	case choice != ChoiceMore || goesOn.Get().MatchString(text):
		return r.whole(LayerContext, KindQuestion, because("triage.route_chat")), true // nothing is asked
	}
	return Route{}, false
}

func (r router) reply(choice Choice) Route {
	out := r.whole(LayerContext, KindReply, because("triage.route_reply"))
	out.Choice = choice
	return out
}

// controls says which control an input is, "" for none.
func (r router) controls(text string) Control {
	for _, row := range controls() {
		if row.match.MatchString(text) {
			return row.control
		}
	}
	return ""
}

// worded is a reply that is none of the choices. What asks or only talks is left to the other layers.
func (r router) worded() (Route, bool) {
	said := r.intent()
	asksBack := ReadChoice(strings.TrimRight(bare(r.input), "吗么嘛")) != ChoiceMore // "可以吗？"
	switch {
	case asksBack:
		return r.whole(LayerIntent, KindQuestion, because("triage.route_question")), true
	case said.Kind == KindQuestion:
		return Route{}, false
	}
	if r.now.Waiting == WaitChange && said.Why.Key == "triage.route_default" && !differs.Get().MatchString(r.f.text) {
		return r.reply(""), true
	}
	return r.reply(ChoiceMore), true
}

// ReadChoice says which of the choices a reply picks. A reply that says more than the choice itself supplements, and so
// does one that asks: "go?" confirms nothing.
func ReadChoice(reply string) Choice {
	text := bare(reply)
	if strings.HasSuffix(strings.TrimSpace(fold(reply).text), "?") {
		return ChoiceMore
	}
	for _, row := range choices() {
		if row.match.MatchString(text) {
			return row.choice
		}
	}
	return ChoiceMore
}

// bare is a short text without its punctuation, folded.
func bare(s string) string {
	if len(s) > 200 {
		return ""
	}
	return strings.Trim(strings.Join(strings.Fields(fold(s).text), " "), " .。!?~,、…")
}

// tool finds an external tool that the input names with its sign: "mcp://server/tool" and "/name", "$name", "@name".
func (r router) tool() (Route, bool) {
	for _, m := range mcpAddress.Get().FindAllStringSubmatchIndex(r.f.text, -1) {
		at := r.f.span(m[2], m[3])
		if _, quoted := within(r.quotes, at.Start); quoted {
			continue
		}
		name := strings.TrimRight(strings.TrimPrefix(at.In(r.f.src), at.In(r.f.src)[:len("mcp://")]), "/.,;:!?")
		at.End = at.Start + len("mcp://") + len(name)
		return r.called(name, at, slices.Contains(r.now.Tools, name)), true
	}
	for _, m := range signed.Get().FindAllStringSubmatchIndex(r.f.text, -1) {
		at := r.f.span(m[2], m[3])
		if _, quoted := within(r.quotes, at.Start); quoted {
			continue
		}
		name := strings.TrimRight(at.In(r.f.src)[1:], "/.-_:")
		at.End = at.Start + 1 + len(name)
		known := slices.Contains(r.now.Tools, name)
		if known || r.looksLikeTool(name, at) {
			return r.called(name, at, known), true
		}
	}
	return Route{}, false
}

// looksLikeTool reports whether a name that is not known is meant as a tool: only "/name" at the very beginning is,
// when it stands alone or is near to a name that exists. "/login returns 500" is about an address.
func (r router) looksLikeTool(name string, at Span) bool {
	if r.f.src[at.Start] != '/' || strings.TrimSpace(r.f.src[:at.Start]) != "" || strings.ContainsAny(name, "/.") {
		return false
	}
	rest := strings.TrimSpace(r.f.src[at.End:])
	if rest == "" {
		return true
	}
	return len(r.nearTools(name)) > 0 && !finite.Get().MatchString(fold(rest).text)
}

// nearTools returns tools and commands that a name may mean.
func (r router) nearTools(name string) []string {
	var out []string
	if n := pawl.Suggest(name, r.now.Tools); n != "" {
		out = append(out, n)
	}
	if info, ok := workflow.LookupCommand(name); ok {
		return append([]string{info.Name}, out...)
	}
	return append(out, nearCommands("~"+name)...)
}

func (r router) called(name string, at Span, known bool) Route {
	out := Route{Layer: LayerTool, Kind: KindTool, Tool: name, At: at, Why: because("triage.route_tool", name)}
	out.Argument = argument(r.f.src, word{Span: at})
	if !known {
		out.Kind, out.Why, out.Near = KindUnknownTool, because("triage.route_unknown_tool", name), r.nearTools(name)
	}
	return out
}
