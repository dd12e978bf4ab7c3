package plan

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"github.com/invopop/jsonschema"

	"pawl"
)

// madeSchema and madePatchSchema make the schemas from the types and the notes below.
func madeSchema() string { return schemaOf(Plan{}, "urn:pawl:schema:plan:1", "Plan of pawl") }
func madePatchSchema() string {
	return schemaOf(Patch{}, "urn:pawl:schema:plan-patch:1", "Plan patch of pawl")
}

func schemaOf(v any, id, title string) string {
	r := jsonschema.Reflector{Anonymous: true, ExpandedStruct: true, Mapper: leaf}
	s := r.Reflect(v)
	s.ID, s.Title = jsonschema.ID(id), title
	describe(s, reflect.TypeOf(v).Name())
	for name, d := range s.Definitions {
		describe(d, name)
	}
	// The schema is made of strings, numbers and lists: it always encodes.
	data, _ := json.MarshalIndent(s, "", "  ")
	return string(data) + "\n"
}

// leaf gives the schema of the types whose JSON form their Go form does not show.
func leaf(t reflect.Type) *jsonschema.Schema {
	switch t {
	case reflect.TypeFor[Status]():
		return enum(statuses())
	case reflect.TypeFor[Mode]():
		return enum(modes())
	case reflect.TypeFor[ArtifactType]():
		return enum(artifactTypes())
	case reflect.TypeFor[Proof]():
		return enum(Proofs())
	case reflect.TypeFor[pawl.Risk]():
		return enum(risks())
	case reflect.TypeFor[json.RawMessage]():
		return &jsonschema.Schema{Type: "object"}
	case reflect.TypeFor[Instant]():
		return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{
			{Type: "string", Format: "date-time",
				Pattern: `^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}([.,][0-9]+)?(Z|[+-][0-9]{2}:[0-9]{2})$`},
			{Type: "integer", Minimum: "0", Maximum: "253402300799999"},
		}}
	}
	return nil
}

func enum[T ~string](values []T) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "string"}
	for _, v := range values {
		s.Enum = append(s.Enum, string(v))
	}
	return s
}

// note is what the schema says of a field beyond its type.
type note struct {
	text     string
	absent   any // the default of a field that may be left out
	required bool
	limit    uint64 // largest length, in characters; 0 for fields that are not texts
	pattern  string
	least    uint64 // smallest number of elements
}

const filled = `\S` // something that can be seen

// notes say of each field, by "Type.field", what a reader of the schema needs. A test sees to it that none is missing.
var notes = map[string]note{
	"Plan.plan_id": {text: "Identifier of the plan; pawl fills it in.", limit: maxName,
		pattern: `^$|^[^\n]*\S[^\n]*$`},
	"Plan.goal": {text: "What is to be reached.", required: true, limit: maxProse, pattern: filled},
	"Plan.constraints": {text: "What must hold on the way, such as: do not change the public interface.",
		absent: []string{}},
	"Plan.network":  {text: "Places that calls which ask for the network may connect to: names of ecosystems, for their registries (" + strings.Join(Ecosystems(), ", ") + "), or host, host:port, .domain:port."},
	"Plan.criteria": {text: "What holds once the work is done, each with the way in which that is shown."},
	"Plan.steps": {text: "The steps. They are carried out in this order unless depends_on says otherwise.",
		required: true, least: 1},
	"Plan.verification": {text: "How the result is judged.", absent: map[string]any{"mode": "test", "required": true,
		"stop_on_fail": true}},
	"Plan.risk_level": {text: "How much can go wrong. pawl computes it again and never lowers it.", absent: "low"},
	"Plan.created_at": {text: "RFC 3339, or Unix seconds or milliseconds; pawl fills it in."},

	"Step.step_id": {text: "Name of the step, unique in the plan. Names such as fix1-1 are kept for repairs.",
		required: true, pattern: identifierPattern},
	"Step.title": {text: "One line that says what is done.", required: true, limit: maxTitle,
		pattern: `^[^\n]*\S[^\n]*$`},
	"Step.intent":             {text: "Why it is done.", required: true, limit: maxProse, pattern: filled},
	"Step.status":             {text: "Progress of the step; leave it out in a new plan.", absent: "pending"},
	"Step.depends_on":         {text: "step_id of each step that must be done first."},
	"Step.tool_calls":         {text: "Calls that the step makes, in order."},
	"Step.expected_artifacts": {text: "What the step leaves behind."},
	"Step.rollback_hint":      {text: "How to undo the step.", limit: maxProse, pattern: `^$|\S`},

	"ToolCallTemplate.name":      {text: "Name of the tool.", required: true, pattern: toolNamePattern},
	"ToolCallTemplate.args_hint": {text: "Arguments, valid for the schema of the tool.", required: true},
	"ToolCallTemplate.why":       {text: "Why the call is made.", limit: maxProse, pattern: `^$|\S`},

	"Artifact.type": {text: "What value names.", required: true},
	"Artifact.value": {text: "Path of the file, the command, or the note itself.", required: true, limit: maxProse,
		pattern: filled},

	"Criterion.id":   {text: "Name of the criterion, unique in the plan.", required: true, pattern: identifierPattern},
	"Criterion.text": {text: "What holds once the work is done.", required: true, limit: maxClaim, pattern: filled},
	"Criterion.from": {text: "The words of the requirement that it comes from.", limit: maxClaim, pattern: `^$|\S`},
	"Criterion.proof": {text: "How it is shown: check (a test or command that fails without the work and passes with it), kept (what passes before passes after), gone (paths or texts that are no longer there), diff (paths that the work changes or brings, with the texts), test (a new test passes, and fails where what it is about does nothing), review (a reviewer finds nothing against it), person (a person says so).",
		required: true},
	"Criterion.run":    {text: "Command that has to end with 0; with check and kept.", limit: maxProse, pattern: `^$|\S`},
	"Criterion.tests":  {text: "Names of tests; with check and kept."},
	"Criterion.checks": {text: "Names or kinds of the project's own checks, \"any\" for each; with check and kept. Without run, tests and checks it is any test."},
	"Criterion.paths":  {text: "Files and folders below the root of the project; needed with diff, possible with gone."},
	"Criterion.texts":  {text: "Texts that have to stand in the paths (diff), to be there no longer (gone), or of which the test that shows it has to speak of one (check)."},
	"Criterion.files":  {text: "New files of tests that are written now and fail without the work; with check and kept. They are restored before the checks, so that the work cannot change them."},

	"TestFile.path": {text: "Path of a file that the project does not have yet and that its test runner finds, such as sub_test.go, test_sub.py or sub.test.js.",
		required: true, limit: maxPath, pattern: testPattern},
	"TestFile.content": {text: "The whole file.", required: true, limit: maxContent, pattern: filled},
	"TestFile.held":    {text: "Whether the file is kept from whoever does the work: other cases of the same criterion, which are tried at the end.", absent: false},

	"VerificationPolicy.mode": {text: "Where the commands come from: none, detected for lint, test or build, or only those listed.", required: true},
	"VerificationPolicy.commands": {text: "Commands; needed with mode custom, not allowed with mode none.",
		absent: []string{}},
	"VerificationPolicy.required": {text: "Whether a failing command fails the plan; otherwise it is a warning.",
		absent: true},
	"VerificationPolicy.stop_on_fail": {text: "Whether the first failing command ends the list.", absent: true},

	"Patch.title":        {text: "New goal of the plan.", limit: maxProse, pattern: filled},
	"Patch.remove_steps": {text: "step_id of each step to take out; steps that are done stay."},
	"Patch.update_steps": {text: "Steps to change; steps that are done stay as they are."},
	"Patch.add_steps":    {text: "Steps to add at the end; they become pending."},
	"Patch.criteria":     {text: "New criteria of the plan, in the place of all that it has."},
	"Patch.reason":       {text: "Why the plan is changed.", limit: maxProse, pattern: `^$|\S`},

	"StepUpdate.id": {text: "step_id of the step to change.", required: true,
		pattern: identifierPattern},
	"StepUpdate.title":              {text: "New title.", limit: maxTitle, pattern: `^[^\n]*\S[^\n]*$`},
	"StepUpdate.description":        {text: "New intent.", limit: maxProse, pattern: filled},
	"StepUpdate.dependencies":       {text: "New depends_on."},
	"StepUpdate.tools_expected":     {text: "New tool_calls."},
	"StepUpdate.expected_artifacts": {text: "New expected_artifacts."},
	"StepUpdate.rollback_hint":      {text: "New rollback_hint.", limit: maxProse, pattern: `^$|\S`},
}

// describe adds the notes to the schema of one type.
func describe(s *jsonschema.Schema, name string) {
	s.Required = nil
	for pair := s.Properties.Oldest(); pair != nil; pair = pair.Next() {
		n, p := notes[name+"."+pair.Key], pair.Value
		if n.required {
			s.Required = append(s.Required, pair.Key)
		}
		p.Description, p.Default, p.Pattern = n.text, n.absent, n.pattern
		if n.limit > 0 {
			p.MaxLength = &n.limit
		}
		if n.least > 0 {
			p.MinItems = &n.least
		}
		if pair.Key == "network" {
			most := uint64(maxGrants)
			p.MaxItems = &most
		}
		if pair.Key == "criteria" {
			most := uint64(maxCriteria)
			p.MaxItems = &most
		}
		if name == "Criterion" && p.Type == "array" {
			most := uint64(maxNamed)
			if pair.Key == "files" {
				most = maxFiles
			}
			p.MaxItems = &most
		}
		if strings.HasSuffix(pair.Key, "steps") {
			most := uint64(maxSteps)
			p.MaxItems = &most
		}
		if p.Items != nil && p.Items.Type == "string" {
			narrow(p.Items, pair.Key)
		}
	}
	switch name {
	case "VerificationPolicy":
		some, none := uint64(1), uint64(0)
		custom := commands(&jsonschema.Schema{MinItems: &some})
		custom.Required = []string{"commands"}
		s.AllOf = []*jsonschema.Schema{
			withMode(VerifyCustom, custom),
			withMode(VerifyNone, commands(&jsonschema.Schema{MaxItems: &none})),
		}
	case "Criterion":
		s.AllOf = criterionRules()
	case "Patch":
		one := uint64(1)
		for _, key := range []string{"title", "remove_steps", "update_steps", "add_steps", "criteria"} {
			some := &jsonschema.Schema{Required: []string{key}}
			if strings.HasSuffix(key, "_steps") {
				some.Properties = jsonschema.NewProperties()
				some.Properties.Set(key, &jsonschema.Schema{MinItems: &one})
			}
			s.AnyOf = append(s.AnyOf, some)
		}
	}
}

// narrow adds what holds for the texts of a list.
func narrow(item *jsonschema.Schema, list string) {
	switch list {
	case "depends_on", "dependencies", "remove_steps":
		item.Pattern = identifierPattern
	case "tests", "checks", "texts":
		limit := uint64(maxTitle)
		item.Pattern, item.MaxLength = `^[^\n]*\S[^\n]*$`, &limit
	case "paths":
		limit := uint64(maxPath)
		item.Pattern, item.MaxLength = localPattern, &limit
	case "network":
		limit := uint64(maxGrant)
		item.Pattern, item.MaxLength = grantPattern(), &limit
	default:
		limit := uint64(maxProse)
		item.Pattern, item.MaxLength = filled, &limit
	}
}

// criterionRules say what each proof needs, and which fields have a meaning with it.
func criterionRules() []*jsonschema.Schema {
	none, one := uint64(0), uint64(1)
	with := func(p Proof, fields map[string]*jsonschema.Schema) *jsonschema.Schema {
		when, then := jsonschema.NewProperties(), jsonschema.NewProperties()
		when.Set("proof", &jsonschema.Schema{Const: string(p)})
		for _, m := range means {
			if f := fields[m.field]; f != nil {
				then.Set(m.field, f)
			}
		}
		return &jsonschema.Schema{If: &jsonschema.Schema{Properties: when}, Then: &jsonschema.Schema{Properties: then}}
	}
	some := func(field string) *jsonschema.Schema {
		p := jsonschema.NewProperties()
		p.Set(field, &jsonschema.Schema{MinItems: &one})
		return &jsonschema.Schema{Required: []string{field}, Properties: p}
	}
	var out []*jsonschema.Schema
	for _, p := range Proofs() {
		fields := map[string]*jsonschema.Schema{}
		for _, m := range means {
			switch {
			case slices.Contains(m.proofs, p):
			case m.field == "run":
				fields[m.field] = &jsonschema.Schema{MaxLength: &none}
			default:
				fields[m.field] = &jsonschema.Schema{MaxItems: &none}
			}
		}
		rule := with(p, fields)
		switch p {
		case ProofDiff:
			rule.Then.Required = []string{"paths"}
			rule.Then.Properties.Set("paths", some("paths").Properties.GetPair("paths").Value)
		case ProofGone:
			rule.Then.AnyOf = []*jsonschema.Schema{some("paths"), some("texts")}
		}
		out = append(out, rule)
	}
	return out
}

// withMode is a rule that holds for one mode.
func withMode(m Mode, then *jsonschema.Schema) *jsonschema.Schema {
	when := jsonschema.NewProperties()
	when.Set("mode", &jsonschema.Schema{Const: string(m)})
	return &jsonschema.Schema{If: &jsonschema.Schema{Properties: when}, Then: then}
}

// commands is the schema of an object whose commands are bounded in number.
func commands(bound *jsonschema.Schema) *jsonschema.Schema {
	s := &jsonschema.Schema{Properties: jsonschema.NewProperties()}
	s.Properties.Set("commands", bound)
	return s
}
