package plan

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"strconv"
	"strings"

	"pawl/text/pattern"

	"go.yaml.in/yaml/v4"

	"pawl"
)

// jsonNumber matches what JSON calls a number; YAML has more ways to write one.
var jsonNumber = pattern.New(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$`)

// parseYAML reads one YAML document of the subset that JSON can express.
func parseYAML(data []byte) (*value, error) {
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var doc yaml.Node
	if err := dec.Decode(&doc); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, fault(position{1, 1}, "plan.empty")
		}
		return nil, yamlFault(err)
	}
	var second yaml.Node
	switch err := dec.Decode(&second); {
	case err == nil:
		return nil, fault(position{second.Line, second.Column}, "plan.second_document")
	case !errors.Is(err, io.EOF):
		return nil, yamlFault(err)
	}
	r := &yamlReader{}
	return r.build(&doc, 0)
}

func yamlFault(err error) error {
	var load *yaml.LoadError
	if errors.As(err, &load) {
		return fault(position{load.Mark.Line, max(load.Mark.Column, 1)}, "plan.syntax", load.Message)
	}
	return fault(position{}, "plan.syntax", err.Error())
}

// yamlReader turns nodes into values. Aliases are expanded, but what they expand to is counted, so that a small file
// cannot become a large one.
type yamlReader struct {
	values, text int
}

func (r *yamlReader) build(n *yaml.Node, depth int) (*value, error) {
	at := position{n.Line, n.Column}
	if n.Kind == yaml.DocumentNode {
		if len(n.Content) != 1 {
			return nil, fault(at, "plan.empty")
		}
		return r.build(n.Content[0], depth)
	}
	r.values++
	r.text += len(n.Value)
	if r.values > maxValues || r.text > maxText {
		return nil, fault(at, "plan.too_many_values", maxValues)
	}
	if depth > maxDepth {
		return nil, fault(at, "plan.too_deep", maxDepth)
	}
	switch n.Kind {
	case yaml.AliasNode:
		if n.Alias == nil {
			return nil, fault(at, "plan.yaml_feature", "*"+n.Value)
		}
		v, err := r.build(n.Alias, depth+1)
		if err != nil {
			return nil, err
		}
		v.at = at
		return v, nil
	case yaml.ScalarNode:
		return r.scalar(n, at)
	case yaml.SequenceNode:
		return r.list(n, at, depth)
	case yaml.MappingNode:
		return r.object(n, at, depth)
	default:
		return nil, fault(at, "plan.yaml_feature", n.ShortTag())
	}
}

func (r *yamlReader) list(n *yaml.Node, at position, depth int) (*value, error) {
	if tag := n.ShortTag(); tag != "!!seq" {
		return nil, fault(at, "plan.yaml_feature", tag)
	}
	v := &value{kind: kindList, at: at}
	for _, c := range n.Content {
		item, err := r.build(c, depth+1)
		if err != nil {
			return nil, err
		}
		v.items = append(v.items, item)
	}
	return v, nil
}

func (r *yamlReader) object(n *yaml.Node, at position, depth int) (*value, error) {
	if tag := n.ShortTag(); tag != "!!map" {
		return nil, fault(at, "plan.yaml_feature", tag)
	}
	v := &value{kind: kindObject, at: at}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		keyAt := position{key.Line, key.Column}
		name, err := r.build(key, depth+1)
		if err != nil {
			return nil, err
		}
		if name.kind != kindText {
			return nil, fault(keyAt, "plan.key", clip(key.Value))
		}
		inner, err := r.build(n.Content[i+1], depth+1)
		if err != nil {
			return nil, err
		}
		v.members = append(v.members, member{name.text, keyAt, inner})
	}
	return v, nil
}

func (r *yamlReader) scalar(n *yaml.Node, at position) (*value, error) {
	switch tag := n.ShortTag(); tag {
	case "!!str", "!!timestamp":
		if i := firstInvalid([]byte(n.Value)); i >= 0 {
			return nil, fault(at, "plan.not_text")
		}
		return &value{kind: kindText, text: n.Value, at: at}, nil
	case "!!null":
		return &value{kind: kindNull, at: at}, nil
	case "!!bool":
		return &value{kind: kindBool, text: strings.ToLower(n.Value), at: at}, nil
	case "!!int", "!!float":
		if jsonNumber.Get().MatchString(n.Value) {
			return number(n.Value, at)
		}
		return r.oddNumber(n, at)
	default:
		return nil, fault(at, "plan.yaml_feature", tag)
	}
}

// oddNumber rewrites a number that JSON would write differently, such as 0x1F or 1_000.
func (r *yamlReader) oddNumber(n *yaml.Node, at position) (*value, error) {
	var out any
	if err := n.Decode(&out); err != nil {
		return nil, fault(at, "plan.number", clip(n.Value))
	}
	switch x := out.(type) {
	case int:
		return number(strconv.Itoa(x), at)
	case int64:
		return number(strconv.FormatInt(x, 10), at)
	case uint64:
		return number(strconv.FormatUint(x, 10), at)
	case float64:
		if !math.IsNaN(x) && !math.IsInf(x, 0) {
			return number(strconv.FormatFloat(x, 'g', -1, 64), at)
		}
	}
	return nil, fault(at, "plan.number", clip(n.Value))
}

// toYAML turns a value into a node whose rendering reads back as the same value.
func (v *value) toYAML() *yaml.Node {
	switch v.kind {
	case kindObject:
		n := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
		for _, m := range v.members {
			n.Content = append(n.Content, textNode(m.name), m.value.toYAML())
		}
		if len(n.Content) == 0 {
			n.Style = yaml.FlowStyle
		}
		return n
	case kindList:
		n := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
		for _, item := range v.items {
			n.Content = append(n.Content, item.toYAML())
		}
		if len(n.Content) == 0 {
			n.Style = yaml.FlowStyle
		}
		return n
	case kindText:
		return textNode(v.text)
	case kindBool:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: v.text}
	case kindNumber:
		return &yaml.Node{Kind: yaml.ScalarNode, Value: v.text} // the tag follows from the text
	default:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Value: "null"}
	}
}

// textNode writes text of several lines as a block, where the encoder can, and leaves the style of the rest to it.
func textNode(s string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s}
	if strings.Contains(s, "\n") {
		n.Style = yaml.LiteralStyle
	}
	return n
}

// EncodeYAML returns the plan as YAML. Decode reads it back as the same plan.
func EncodeYAML(p Plan) ([]byte, error) {
	n, err := p.MarshalYAML()
	if err != nil {
		return nil, err
	}
	return yaml.Dump(n, yaml.WithIndent(2), yaml.WithLineWidth(-1))
}

// MarshalYAML lets package yaml write a plan that is part of a larger document.
func (p Plan) MarshalYAML() (any, error) {
	v, err := p.value()
	if err != nil {
		return nil, err
	}
	return v.toYAML(), nil
}

// value returns the plan as the document that is written, with arguments in the form in which nothing is invisible.
func (p Plan) value() (*value, error) {
	data, err := json.Marshal(p)
	if err != nil {
		return nil, pawl.Fail(pawl.CodeInvalid, "plan.cannot_write").In("plan.Encode").Because(err)
	}
	v, err := parseJSON(data)
	if err != nil {
		return nil, pawl.Fail(pawl.CodeInvalid, "plan.cannot_write").In("plan.Encode").Because(err)
	}
	return v, nil
}

// MarshalJSON writes the lists that a plan must have, constraints and steps, as lists even when they are nil.
func (p Plan) MarshalJSON() ([]byte, error) {
	type bare Plan // without this method
	if p.Constraints == nil {
		p.Constraints = []string{}
	}
	if p.Steps == nil {
		p.Steps = []Step{}
	}
	return json.Marshal(bare(p))
}

// MarshalJSON writes the commands as a list even when they are nil.
func (v VerificationPolicy) MarshalJSON() ([]byte, error) {
	type bare VerificationPolicy
	if v.Commands == nil {
		v.Commands = []string{}
	}
	return json.Marshal(bare(v))
}
