package plan

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	violation "github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// hardMaxSteps is the largest number of steps that any configuration may allow (spec.md §2.3).
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

// DefaultLimits are the limits of spec.md §2.3 for a plan without repairs.
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

// Check reports everything that keeps a plan from being carried out: what Decode refuses, too many steps or calls, repeated
// step ids, dependencies that do not exist or form a cycle, tools that do not exist, and arguments that violate the tool's
// schema. tools returns the JSON Schema of a tool's arguments; ok is false for a tool that does not exist. With nil tools the
// calls are not looked at.
//
// The error is a *pawl.Error of CodeInvalid whose cause is a *Malformed. Positions.Locate adds the lines of a plan that came
// from a file.
func Check(p Plan, tools func(name string) (schema []byte, ok bool), limits Limits) error {
	var found issues
	shapeOf(p, &found)
	if len(p.Steps) > maxSteps {
		return found.err("plan.Check", "")
	}
	limits.check(p, &found)
	graph(p, &found)
	if tools != nil {
		c := checker{tools: tools, limits: limits, found: &found, compiled: map[string]*jsonschema.Schema{}}
		for i, s := range p.Steps {
			for j, call := range s.ToolCalls {
				c.call(index(index("steps", i)+".tool_calls", j), call)
			}
		}
	}
	return found.err("plan.Check", "")
}

// check counts steps and calls.
func (l Limits) check(p Plan, found *issues) {
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
	found    *issues
	compiled map[string]*jsonschema.Schema
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
	var invalid *jsonschema.ValidationError
	if err := schema.Validate(v.plain()); errors.As(err, &invalid) {
		violations(invalid, v, at, c.found)
	} else if err != nil {
		c.found.at(at, "plan.arg_rule", "", err.Error())
	}
}

// compile reads a schema. References to other documents are refused: the schema of a foreign tool must not make pawl read
// files.
func compile(raw []byte) (*jsonschema.Schema, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(noLoader{})
	const url = "urn:pawl:arguments"
	if err := c.AddResource(url, doc); err != nil {
		return nil, err
	}
	return c.Compile(url)
}

type noLoader struct{}

// Load refuses.
func (noLoader) Load(url string) (any, error) {
	return nil, fmt.Errorf("reference to another document: %s", clip(url))
}

// violations reports the innermost causes of a validation error.
func violations(e *jsonschema.ValidationError, root *value, path string, found *issues) {
	if len(e.Causes) > 0 {
		for _, cause := range e.Causes {
			violations(cause, root, path, found)
		}
		return
	}
	at, v := path, root
	for _, token := range e.InstanceLocation {
		switch {
		case v != nil && v.kind == kindObject:
			at, v = join(at, token), v.member(token)
		case v != nil:
			i, _ := strconv.Atoi(token)
			at += "[" + token + "]"
			v = v.items[i]
		}
	}
	switch k := e.ErrorKind.(type) {
	case *violation.Required:
		for _, name := range k.Missing {
			found.at(join(at, name), "plan.arg_missing", clip(name))
		}
	case *violation.AdditionalProperties:
		for _, name := range k.Properties {
			found.at(join(at, name), "plan.arg_unknown", clip(name))
		}
	case *violation.Type:
		found.at(at, "plan.wrong_type", strings.Join(k.Want, " | "), k.Got)
	case *violation.Enum:
		want := make([]string, len(k.Want))
		for i, w := range k.Want {
			want[i] = fmt.Sprint(w)
		}
		found.at(at, "plan.bad_value", clip(fmt.Sprint(k.Got)), strings.Join(want, ", "))
	default:
		found.at(at, "plan.arg_rule", strings.Join(e.ErrorKind.KeywordPath(), "."), rule(e.ErrorKind))
	}
}

// rule returns the value of the keyword that was violated, as the schema has it.
func rule(k jsonschema.ErrorKind) string {
	number := func(r *big.Rat) string { return strings.TrimSuffix(strings.TrimRight(r.FloatString(6), "0"), ".") }
	switch k := k.(type) {
	case *violation.Pattern:
		return k.Want
	case *violation.Format:
		return k.Want
	case *violation.Const:
		data, _ := json.Marshal(k.Want)
		return clip(string(data))
	case *violation.MinLength:
		return strconv.Itoa(k.Want)
	case *violation.MaxLength:
		return strconv.Itoa(k.Want)
	case *violation.MinItems:
		return strconv.Itoa(k.Want)
	case *violation.MaxItems:
		return strconv.Itoa(k.Want)
	case *violation.MinProperties:
		return strconv.Itoa(k.Want)
	case *violation.MaxProperties:
		return strconv.Itoa(k.Want)
	case *violation.Minimum:
		return number(k.Want)
	case *violation.Maximum:
		return number(k.Want)
	case *violation.ExclusiveMinimum:
		return number(k.Want)
	case *violation.ExclusiveMaximum:
		return number(k.Want)
	default:
		return "" // the keyword says it all
	}
}

// sortIssues puts problems into the order of the document.
func sortIssues(list []Issue) {
	slices.SortStableFunc(list, func(a, b Issue) int {
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return a.Col - b.Col
	})
}
