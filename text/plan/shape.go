package plan

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"pawl/text/pattern"

	"pawl"
)

// Limits on texts, in characters. They are wide enough for any honest plan and narrow enough to be read by a person.
const (
	maxTitle = 300
	maxProse = 20_000
	maxName  = 128
)

// maxSteps is the number of steps that no plan exceeds, whatever the limits: 99 repairs of 30 steps beside 30 of its
// own. It keeps work on a hostile plan short.
const maxSteps = 100 * hardMaxSteps

// The forms of ids and tool names, as the published schemas show them.
const (
	identifierPattern = `^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`
	toolNamePattern   = `^[A-Za-z_][A-Za-z0-9_.:/-]{0,127}$`
)

// identifier is what a step may be called: short, printable and safe in a file name, a shell and Markdown.
var identifier = pattern.New(identifierPattern)

// Parts of the form of a network grant.
const (
	hostLabel = `[A-Za-z0-9]([A-Za-z0-9_-]*[A-Za-z0-9])?`
	lastLabel = `[A-Za-z]([A-Za-z0-9_-]*[A-Za-z0-9])?`
	portForm  = `:[1-9][0-9]{0,4}`
)

// grantPattern is the form of a network grant: an ecosystem, a port of the loopback or of a host, or a name of several
// labels, with a dot in front for what lies below it.
func grantPattern() string {
	return `^(` + strings.Join(Ecosystems(), "|") + `|(\[::1\]|127(\.[0-9]{1,3}){3}|` + lastLabel + `)` + portForm +
		`|\.?(` + hostLabel + `\.)+` + lastLabel + `(` + portForm + `)?)$`
}

var grantForm = pattern.New(grantPattern())

// maxGrant is the largest length of a network grant.
const maxGrant = 260

// maxGrants is the largest number of network grants of a plan.
const maxGrants = 32

// toolName is what a tool may be called; servers of tools put a prefix before their names.
var toolName = pattern.New(toolNamePattern)

func statuses() []Status { return []Status{Pending, InProgress, Done, Blocked, Skipped} }

func modes() []Mode { return []Mode{VerifyNone, VerifyLint, VerifyTest, VerifyBuild, VerifyCustom} }

func artifactTypes() []ArtifactType {
	return []ArtifactType{ArtifactFile, ArtifactCommand, ArtifactNote}
}

func risks() []pawl.Risk { return []pawl.Risk{pawl.RiskLow, pawl.RiskMedium, pawl.RiskHigh} }

// shapeOf finds what the published schema refuses in the values of a plan. A field about which something was already
// reported is passed over, so that one mistake is one problem.
func shapeOf(p Plan, found *problems) {
	s := shape{found: found}
	s.prose("plan_id", p.PlanID, maxName, optionalText|oneLine)
	s.prose("goal", p.Goal, maxProse, 0)
	for i, c := range p.Constraints {
		s.prose(index("constraints", i), c, maxProse, 0)
	}
	if len(p.Network) > maxGrants {
		s.report("network", "plan.too_many_grants", maxGrants)
	}
	for i, n := range p.Network[:min(len(p.Network), maxGrants)] {
		s.grant(index("network", i), n)
	}
	s.criteria(p.Criteria)
	if len(p.Steps) == 0 {
		s.report("steps", "plan.no_steps")
	}
	for i, step := range some(s, "steps", p.Steps) {
		s.step(index("steps", i), step)
	}
	choice(s, "verification.mode", p.Verification.Mode, modes())
	for i, c := range p.Verification.Commands {
		s.prose(index("verification.commands", i), c, maxProse, 0)
	}
	if p.Verification.Mode == VerifyCustom && len(p.Verification.Commands) == 0 {
		s.report("verification.commands", "plan.no_commands")
	}
	if p.Verification.Mode == VerifyNone && len(p.Verification.Commands) > 0 {
		s.report("verification.commands", "plan.needless_commands")
	}
	choice(s, "risk_level", p.RiskLevel, risks())
}

// shapeOfPatch does for a patch what shapeOf does for a plan.
func shapeOfPatch(p Patch, found *problems) {
	s := shape{found: found}
	if p.Title != nil {
		s.prose("title", *p.Title, maxProse, 0)
	}
	for i, id := range some(s, "remove_steps", p.RemoveSteps) {
		s.id(index("remove_steps", i), id)
	}
	for i, u := range some(s, "update_steps", p.UpdateSteps) {
		s.update(index("update_steps", i), u)
	}
	for i, step := range some(s, "add_steps", p.AddSteps) {
		s.step(index("add_steps", i), step)
	}
	s.criteria(deref(p.Criteria))
	s.prose("reason", p.Reason, maxProse, optionalText)
	if p.empty() && len(found.List) == 0 {
		s.report("", "plan.patch_empty")
	}
}

func index(path string, i int) string { return fmt.Sprintf("%s[%d]", path, i) }

type shape struct{ found *problems }

// What a text may be, beyond the default of several lines that say something.
type textRule uint8

const (
	optionalText textRule = 1 << iota
	oneLine
)

func (s shape) report(path, key string, args ...any) {
	if !s.found.has(path) {
		s.found.at(path, key, args...)
	}
}

func (s shape) prose(path, text string, limit int, rule textRule) {
	switch n := utf8.RuneCountInString(text); {
	case text == "" && rule&optionalText != 0:
	case strings.TrimSpace(text) == "":
		s.report(path, "plan.blank")
	case n > limit:
		s.report(path, "plan.too_long", n, limit)
	case rule&oneLine != 0 && strings.Contains(text, "\n"):
		s.report(path, "plan.one_line")
	case !utf8.ValidString(text):
		s.report(path, "plan.not_text")
	default:
		if i := strings.IndexFunc(text, hidden); i >= 0 {
			r, _ := utf8.DecodeRuneInString(text[i:])
			s.report(path, "plan.hidden_character", fmt.Sprintf("U+%04X", r))
		}
	}
}

// grant checks the form of a network grant: the name of an ecosystem, or a place. Of addresses, only those of the
// loopback can be places.
func (s shape) grant(path, text string) {
	host, _, _ := strings.Cut(text, ":")
	switch {
	case grantForm.Get().MatchString(text) && len(text) <= maxGrant:
	case numeric(host):
		s.report(path, "plan.grant_address", clip(text))
	default:
		s.report(path, "plan.bad_grant", clip(text), strings.Join(Ecosystems(), ", "))
	}
}

// numeric reports whether the last label of a host begins with a digit, as it does in addresses and in no name.
func numeric(host string) bool {
	last := host[strings.LastIndexByte(host, '.')+1:]
	return last != "" && last[0] >= '0' && last[0] <= '9'
}

func (s shape) id(path, id string) {
	if !identifier.Get().MatchString(id) {
		s.report(path, "plan.bad_id", clip(id))
	}
}

func (s shape) step(path string, step Step) {
	s.id(path+".step_id", step.StepID)
	s.prose(path+".title", step.Title, maxTitle, oneLine)
	s.prose(path+".intent", step.Intent, maxProse, 0)
	choice(s, path+".status", step.Status, statuses())
	s.lists(path, "depends_on", step.DependsOn, "tool_calls", step.ToolCalls, step.ExpectedArtifacts)
	s.prose(path+".rollback_hint", step.RollbackHint, maxProse, optionalText)
}

func (s shape) update(path string, u StepUpdate) {
	s.id(path+".id", u.ID)
	if u.Title != nil {
		s.prose(path+".title", *u.Title, maxTitle, oneLine)
	}
	if u.Description != nil {
		s.prose(path+".description", *u.Description, maxProse, 0)
	}
	s.lists(path, "dependencies", deref(u.Dependencies), "tools_expected", deref(u.ToolsExpected),
		deref(u.ExpectedArtifacts))
	s.prose(path+".rollback_hint", deref(u.RollbackHint), maxProse, optionalText)
}

// lists checks what steps and updates of steps have in common under different names.
func (s shape) lists(path, deps string, ids []string, tools string, calls []ToolCallTemplate, artifacts []Artifact) {
	for i, id := range ids {
		s.id(index(path+"."+deps, i), id)
	}
	for i, c := range calls {
		at := index(path+"."+tools, i)
		if !toolName.Get().MatchString(c.Name) {
			s.report(at+".name", "plan.bad_tool_name", clip(c.Name))
		}
		s.arguments(at+".args_hint", c.ArgsHint)
		s.prose(at+".why", c.Why, maxProse, optionalText)
	}
	for i, a := range artifacts {
		at := index(path+".expected_artifacts", i)
		choice(s, at+".type", a.Type, artifactTypes())
		s.prose(at+".value", a.Value, maxProse, 0)
	}
}

func (s shape) arguments(path string, raw json.RawMessage) {
	if s.found.has(path) {
		return
	}
	v, err := parseJSON(raw)
	if err != nil || v.kind != kindObject {
		s.report(path, "plan.bad_arguments")
		return
	}
	var again problems
	(&reader{&again}).repeated(v, path)
	for _, i := range again.List {
		s.found.at(i.Field, i.Key, i.Args...) // the position within the arguments is not one of the plan
	}
}

// some returns a list of steps unless it is too long to look at.
func some[T any](s shape, path string, list []T) []T {
	if len(list) > maxSteps {
		s.report(path, "plan.too_many_steps", maxSteps)
		return nil
	}
	return list
}

func choice[T ~string](s shape, path string, got T, want []T) {
	if !slices.Contains(want, got) {
		names := make([]string, len(want))
		for i, w := range want {
			names[i] = string(w)
		}
		s.report(path, "plan.bad_value", clip(string(got)), strings.Join(names, ", "))
	}
}

func deref[T any](p *T) (out T) {
	if p != nil {
		out = *p
	}
	return out
}
