package mcptools

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"pawl/text/display"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"pawl"
)

// Bounds of what one server may offer. A model reads all of it with each exchange.
const (
	maxTools    = 128
	maxSchema   = 64 << 10
	maxDocument = 1 << 20
	// maxName is the longest name of a tool that every provider takes.
	maxName = 64
	// maxAbout is how much of a description a model is shown, in bytes.
	maxAbout = 2 << 10
)

// Document is what a user looks at and trusts: how a server is reached, and every tool that it offers, by name.
type Document struct {
	Server Reach        `json:"server"`
	Tools  []Definition `json:"tools"`
}

// Definition is one tool as its server describes it. Whatever is in it is the server's word and nothing more.
type Definition struct {
	Name        string          `json:"name"`
	Title       string          `json:"title,omitempty"`
	Description string          `json:"description,omitempty"`
	Input       json.RawMessage `json:"input"`
	Output      json.RawMessage `json:"output,omitempty"`
	// Annotations are the server's hints, such as that the tool only reads. They decide nothing.
	Annotations json.RawMessage `json:"annotations,omitempty"`
}

// Canonical returns the one form of the document that its digest is of: members in order, nothing escaped that need not
// be.
func (d Document) Canonical() ([]byte, error) {
	raw, err := json.Marshal(d)
	if err != nil {
		return nil, err
	}
	return canonical(raw)
}

func canonical(raw []byte) ([]byte, error) {
	dec := json.NewDecoder(strings.NewReader(string(raw)))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, err
	}
	var out strings.Builder
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return []byte(strings.TrimSuffix(out.String(), "\n")), err
}

// DigestOf returns the digest of a canonical document.
func DigestOf(raw []byte) string {
	sum := sha256.Sum256(raw)
	return digestPrefix + hex.EncodeToString(sum[:])
}

const digestPrefix = "sha256:"

var toolName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_./-]+$`) })

// Full is the name under which a model is offered a tool. Providers take neither dots nor slashes.
func Full(server, tool string) string {
	return server + "__" + strings.NewReplacer(".", "_", "/", "_").Replace(tool)
}

// folded is the spelling under which names are compared: models mix up case, and dashes with underscores.
func folded(name string) string { return strings.ReplaceAll(strings.ToLower(name), "-", "_") }

// describe makes a document of what a server says that it offers, or refuses what no model can be offered.
func describe(s Server, r Reach, tools []*sdk.Tool) (Document, error) {
	doc := Document{Server: r, Tools: []Definition{}}
	fail := func(key string, args ...any) (Document, error) {
		return Document{}, pawl.Fail(pawl.CodeInvalid, key, args...).In("mcptools.Ask")
	}
	if len(tools) > maxTools {
		return fail("mcptools.too_many", s.Name, maxTools)
	}
	seen := map[string]string{}
	for _, t := range tools {
		shown := visible(display.Head(t.Name, 200))
		full := Full(s.Name, t.Name)
		switch other, twice := seen[folded(full)]; {
		case !toolName().MatchString(t.Name):
			return fail("mcptools.tool_name", s.Name, shown)
		case len(full) > maxName:
			return fail("mcptools.tool_long", s.Name, shown, maxName)
		case twice:
			return fail("mcptools.twice", s.Name, other, shown)
		}
		seen[folded(full)] = t.Name
		d := Definition{Name: t.Name, Title: t.Title, Description: t.Description}
		var err error
		if d.Input, err = schema(t.InputSchema); err != nil || len(d.Input) == 0 {
			return fail("mcptools.schema", s.Name, shown)
		}
		if t.OutputSchema != nil {
			if d.Output, err = schema(t.OutputSchema); err != nil {
				return fail("mcptools.schema", s.Name, shown)
			}
		}
		if t.Annotations != nil {
			if d.Annotations, err = json.Marshal(t.Annotations); err != nil {
				return fail("mcptools.schema", s.Name, shown)
			}
		}
		doc.Tools = append(doc.Tools, d)
	}
	slices.SortFunc(doc.Tools, func(a, b Definition) int { return strings.Compare(a.Name, b.Name) })
	raw, err := doc.Canonical()
	if err != nil || len(raw) > maxDocument {
		return fail("mcptools.too_large", s.Name, maxDocument>>10)
	}
	return doc, nil
}

// schema returns the canonical form of a schema, which has to be one of an object.
func schema(v any) (json.RawMessage, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	var object struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(raw, &object); err != nil || object.Type != "object" {
		return nil, errors.New("the type is not object")
	}
	if len(raw) > maxSchema {
		return nil, errors.New("too large")
	}
	return canonical(raw)
}

// kept reads the document that a user trusted. The digest in the settings decides what it must be.
func (s Server) kept() (Document, error) {
	fail := func(err error) (Document, error) {
		return Document{}, pawl.Fail(pawl.CodeEnvironment, "mcptools.not_kept",
			s.Name).Because(err).In("mcptools.Tools")
	}
	info, err := os.Stat(s.Kept)
	switch {
	case err != nil:
		return fail(err)
	case !info.Mode().IsRegular() || info.Size() > maxDocument:
		return fail(errors.New("not a small regular file"))
	}
	raw, err := os.ReadFile(s.Kept)
	if err != nil {
		return fail(err)
	}
	if DigestOf(raw) != s.Digest {
		return fail(errors.New("the file is not what was trusted"))
	}
	var doc Document
	if err := json.Unmarshal(raw, &doc); err != nil {
		return fail(err)
	}
	return doc, nil
}

// changes lists what differs between two documents: "+name" for a tool that is new, "-name" for one that is gone, and
// "name: what" for one that is another.
func changes(old, is Document) []string {
	var out []string
	differs := func(a, b any) bool {
		x, errX := json.Marshal(a)
		y, errY := json.Marshal(b)
		return errX != nil || errY != nil || string(x) != string(y)
	}
	for _, f := range []struct {
		name string
		a, b any
	}{
		{"command", old.Server.Command, is.Server.Command}, {"env", old.Server.Env, is.Server.Env}, {"network",
			old.Server.Network, is.Server.Network},
		{"url", old.Server.URL, is.Server.URL}, {"files", old.Server.Files, is.Server.Files},
	} {
		if differs(f.a, f.b) {
			out = append(out, f.name)
		}
	}
	before := map[string]Definition{}
	for _, d := range old.Tools {
		before[d.Name] = d
	}
	for _, d := range is.Tools {
		was, known := before[d.Name]
		delete(before, d.Name)
		if !known {
			out = append(out, "+"+d.Name)
			continue
		}
		for _, f := range []struct {
			name string
			a, b any
		}{
			{"title", was.Title, d.Title}, {"description", was.Description, d.Description}, {"input", was.Input,
				d.Input},
			{"output", was.Output, d.Output}, {"annotations", was.Annotations, d.Annotations},
		} {
			if differs(f.a, f.b) {
				out = append(out, d.Name+": "+f.name)
			}
		}
	}
	for _, d := range old.Tools {
		if _, gone := before[d.Name]; gone {
			out = append(out, "-"+d.Name)
		}
	}
	return out
}

// anyObject is a schema that every object fits.
const anyObject = `{"type":"object"}`

// maxWeight is how many places a schema may have, references followed, to be held against arguments by pawl itself.
const maxWeight = 4000

// checkable returns a schema that arguments can be held against at a bounded cost: the tool's own or, where that leads
// in circles, grows without bound or is of a draft that pawl does not know, one of any object. The server checks its
// arguments in any case.
func checkable(raw json.RawMessage) json.RawMessage {
	var root any
	left := maxWeight
	if json.Unmarshal(raw, &root) != nil || !light(root, root, map[string]bool{}, &left) {
		return json.RawMessage(anyObject)
	}
	var s jsonschema.Schema
	if json.Unmarshal(raw, &s) != nil {
		return json.RawMessage(anyObject)
	}
	if _, err := s.Resolve(nil); err != nil {
		return json.RawMessage(anyObject)
	}
	return raw
}

// light walks over a schema, following references to places in it.
func light(root, node any, open map[string]bool, left *int) bool {
	if *left--; *left < 0 {
		return false
	}
	switch node := node.(type) {
	case []any:
		return !slices.ContainsFunc(node, func(v any) bool { return !light(root, v, open, left) })
	case map[string]any:
		for k, v := range node {
			text, isText := v.(string)
			switch {
			case isText && (k == "$dynamicRef" || k == "$recursiveRef" || k == "$id" || k == "$anchor" ||
				k == "$dynamicAnchor"):
				return false
			case isText && k == "$ref":
				target, ok := at(root, text)
				if !ok || open[text] {
					return false
				}
				open[text] = true
				if !light(root, target, open, left) {
					return false
				}
				delete(open, text)
			case !light(root, v, open, left):
				return false
			}
		}
	}
	return true
}

// at returns the place that a reference of the form #/a/b names.
func at(root any, ref string) (any, bool) {
	path, ok := strings.CutPrefix(ref, "#/")
	if !ok {
		return nil, false
	}
	for part := range strings.SplitSeq(path, "/") {
		m, ok := root.(map[string]any)
		if !ok {
			return nil, false
		}
		if root, ok = m[strings.NewReplacer("~1", "/", "~0", "~").Replace(part)]; !ok {
			return nil, false
		}
	}
	return root, true
}

// visible leaves out of a text what nobody can see and a model may read all the same: control characters but the end of
// a line and the tab, invisible characters, and those that change the direction of writing.
func visible(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || r == ' ' || unicode.IsPrint(r) {
			return r
		}
		if unicode.IsSpace(r) {
			return ' '
		}
		return -1
	}, strings.ToValidUTF8(s, "\uFFFD"))
}
