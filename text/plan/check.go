package plan

import (
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"pawl"

	"github.com/google/jsonschema-go/jsonschema"
)

// hardMaxSteps is the largest number of steps that any configuration may allow (docs/spec/turn.md#planning).
const hardMaxSteps = 30

// Limits bounds a plan.
type Limits struct {
	// MaxSteps is the largest number of steps, repairs not counted; 0 means 12, and more than 30 means 30.
	MaxSteps int
	// MaxCalls is the largest number of tool calls of one step; 0 means 100.
	MaxCalls int
	// MaxRepairs is the largest number of a repair whose steps the plan may hold. With 0, which is right for every plan
	// that somebody proposes, ids of the form fix1-1 are refused.
	MaxRepairs int
	// Tools are the names of the tools, to suggest one where a name is not known. It may be empty.
	Tools []string
}

// DefaultLimits are the limits of docs/spec/turn.md#planning for a plan without repairs.
func DefaultLimits() Limits { return Limits{MaxSteps: 12, MaxCalls: 100} }

func (l Limits) steps() int {
	if l.MaxSteps <= 0 {
		return 12
	}
	return min(l.MaxSteps, hardMaxSteps)
}

func (l Limits) calls() int {
	if l.MaxCalls <= 0 {
		return 100
	}
	return l.MaxCalls
}

// Check reports everything that keeps a plan from being carried out: what Decode refuses, too many steps or calls,
// repeated step ids, dependencies that do not exist or form a cycle, tools that do not exist, and arguments that
// violate the tool's schema. tools returns the JSON Schema of a tool's arguments; ok is false for a tool that does not
// exist. With nil tools the calls are not looked at.
//
// The error is a *pawl.Error of CodeInvalid whose cause is a *pawl.Problems. Positions.Locate adds the lines of a plan
// that came from a file.
func Check(p Plan, tools func(name string) (schema []byte, ok bool), limits Limits) error {
	var found problems
	shapeOf(p, &found)
	if len(p.Steps) > maxSteps {
		return found.err("plan.Check", "")
	}
	limits.check(p, &found)
	graph(p, &found)
	if tools != nil {
		c := checker{tools: tools, limits: limits, found: &found, compiled: map[string]*jsonschema.Resolved{}}
		for i, s := range p.Steps {
			for j, call := range s.ToolCalls {
				c.call(index(index("steps", i)+".tool_calls", j), call)
			}
		}
	}
	return found.err("plan.Check", "")
}

// check counts steps and calls.
func (l Limits) check(p Plan, found *problems) {
	counts := map[int]int{}
	for i, s := range p.Steps {
		path := index("steps", i)
		repair := s.Repair()
		if repair > l.MaxRepairs {
			found.at(path+".step_id", "plan.reserved_id", s.StepID)
			repair = 0
		}
		if counts[repair]++; counts[repair] == l.steps()+1 {
			found.at(path, "plan.too_many_steps", l.steps())
		}
		if len(s.ToolCalls) > l.calls() {
			found.at(path+".tool_calls", "plan.too_many_calls", len(s.ToolCalls), l.calls())
		}
	}
}

// checker holds calls against the schemas of their tools; each schema is compiled once.
type checker struct {
	tools    func(string) ([]byte, bool)
	limits   Limits
	found    *problems
	compiled map[string]*jsonschema.Resolved
}

func (c *checker) call(path string, call ToolCallTemplate) {
	if c.found.has(path + ".name") {
		return
	}
	schema, known := c.compiled[call.Name]
	if !known {
		raw, ok := c.tools(call.Name)
		if !ok {
			unknown(c.found, path+".name", "plan.unknown_tool", call.Name, c.limits.Tools)
			return
		}
		var err error
		if schema, err = compile(raw); err != nil {
			c.found.at(path+".name", "plan.bad_schema", call.Name, err.Error())
		}
		c.compiled[call.Name] = schema
	}
	at := path + ".args_hint"
	if schema == nil || c.found.has(at) {
		return
	}
	v, err := parseJSON(call.ArgsHint)
	if err != nil {
		return // reported as bad arguments
	}
	before := len(c.found.List)
	hold(schema.Schema(), v, at, c.found)
	if len(c.found.List) > before {
		return
	}
	// What no keyword above explains, the library still sees.
	if err := schema.Validate(v.decoded()); err != nil {
		c.found.at(at, "plan.arg_rule", "", clip(err.Error()))
	}
}

// compile reads a schema. References to other documents are refused, because without a loader none can be resolved: the
// schema of a foreign tool must not make pawl read files.
func compile(raw []byte) (*jsonschema.Resolved, error) {
	var s jsonschema.Schema
	if err := json.Unmarshal(raw, &s); err != nil {
		return nil, err
	}
	return s.Resolve(nil)
}

// hold reports every violation of a schema's plain keywords, each at the place where it is.
func hold(s *jsonschema.Schema, v *value, at string, found *problems) {
	if want := slices.Concat(s.Types, present(s.Type)); len(want) > 0 && !slices.ContainsFunc(want, v.is) {
		found.at(at, "plan.wrong_type", strings.Join(want, " | "), string(v.kind))
		return
	}
	if len(s.Enum) > 0 && !slices.ContainsFunc(s.Enum, func(w any) bool { return reflect.DeepEqual(w, v.decoded()) }) {
		want := make([]string, len(s.Enum))
		for i, w := range s.Enum {
			want[i] = fmt.Sprint(w)
		}
		found.at(at, "plan.bad_value", clip(fmt.Sprint(v.decoded())), strings.Join(want, ", "))
	}
	switch v.kind {
	case kindObject:
		holdObject(s, v, at, found)
	case kindList:
		bound(at, "minItems", s.MinItems, len(v.items), true, found)
		bound(at, "maxItems", s.MaxItems, len(v.items), false, found)
		for i, item := range v.items {
			if s.Items != nil {
				hold(s.Items, item, at+"["+strconv.Itoa(i)+"]", found)
			}
		}
	case kindText:
		n := utf8.RuneCountInString(v.text)
		bound(at, "minLength", s.MinLength, n, true, found)
		bound(at, "maxLength", s.MaxLength, n, false, found)
		if re, err := regexp.Compile(s.Pattern); s.Pattern != "" && err == nil && !re.MatchString(v.text) {
			found.at(at, "plan.arg_rule", "pattern", s.Pattern)
		}
	case kindNumber:
		n, _ := strconv.ParseFloat(v.text, 64)
		bound(at, "minimum", s.Minimum, n, true, found)
		bound(at, "maximum", s.Maximum, n, false, found)
	}
}

func holdObject(s *jsonschema.Schema, v *value, at string, found *problems) {
	for _, name := range s.Required {
		if v.member(name) == nil {
			found.at(join(at, name), "plan.arg_missing", clip(name))
		}
	}
	closed := s.AdditionalProperties != nil && s.AdditionalProperties.Not != nil
	for _, m := range v.members {
		sub, known := s.Properties[m.name]
		switch {
		case known:
			hold(sub, m.value, join(at, m.name), found)
		case closed && len(s.PatternProperties) == 0:
			found.at(join(at, m.name), "plan.arg_unknown", clip(m.name))
		}
	}
}

// bound reports a number that lies beyond a limit of the schema.
func bound[N int | float64](at, keyword string, limit *N, n N, least bool, found *problems) {
	if limit != nil && (least && n < *limit || !least && n > *limit) {
		found.at(at, "plan.arg_rule", keyword, strings.TrimSuffix(fmt.Sprint(*limit), ".0"))
	}
}

func present(s string) []string {
	if s == "" {
		return nil
	}
	return []string{s}
}

// sortProblems puts problems into the order of the document.
func sortProblems(list []pawl.Problem) {
	slices.SortStableFunc(list, func(a, b pawl.Problem) int {
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return a.Col - b.Col
	})
}
