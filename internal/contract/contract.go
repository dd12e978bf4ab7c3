// Package contract holds the HTTP API of pawl to what was published of it: whoever wrote a client against the document of
// a version can rely on it as long as that version is served.
//
// It is a module of its own. What compares documents and generates clients brings some twenty modules along, of which
// newer versions than those of the program would otherwise be linked into it.
package contract

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/oasdiff/oasdiff/checker"
	"github.com/oasdiff/oasdiff/diff"
	"github.com/oasdiff/oasdiff/load"
)

// Breaks lists what a document breaks for the clients of another one, in words; warnings as well, for what is gone from
// an answer is only that to the library. A document of a later version may break everything: it is served elsewhere.
func Breaks(published, now []byte) ([]string, error) {
	before, err := read("published", published)
	if err != nil {
		return nil, err
	}
	after, err := read("now", now)
	if err != nil {
		return nil, err
	}
	was, err := version(before)
	if err != nil {
		return nil, err
	}
	is, err := version(after)
	switch {
	case err != nil:
		return nil, err
	case is > was:
		return nil, nil
	case is < was:
		return []string{fmt.Sprintf("version %d comes behind version %d", is, was)}, nil
	}
	found, sources, err := diff.GetWithOperationsSourcesMap(diff.NewConfig(), before, after)
	if err != nil {
		return nil, err
	}
	changes := checker.CheckBackwardCompatibilityUntilLevel(checker.NewConfig(checker.GetAllChecks()), found, sources,
		checker.WARN)
	var out []string
	for _, c := range changes {
		out = append(out, fmt.Sprintf("%s %s: %s (%s)", c.GetOperation(), c.GetPath(),
			c.GetUncolorizedText(checker.NewDefaultLocalizer()), c.GetId()))
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

func read(name string, data []byte) (*load.SpecInfo, error) {
	loader := openapi3.NewLoader()
	info, err := load.NewSpecInfoFromData(loader, data, name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return info, info.Spec.Validate(loader.Context)
}

func version(s *load.SpecInfo) (int, error) { return strconv.Atoi(s.GetVersion()) }

// Wire is what clients rely on in a document: it without its words, which may become better at any time.
func Wire(document []byte) ([]byte, error) {
	var doc any
	if err := json.Unmarshal(document, &doc); err != nil {
		return nil, err
	}
	silence(doc, false)
	var out bytes.Buffer
	to := json.NewEncoder(&out)
	to.SetEscapeHTML(false)
	to.SetIndent("", " ")
	err := to.Encode(doc)
	return out.Bytes(), err
}

// silence takes the words out of a part of a document. In one that is named by its parts, such as properties, the
// names stay whatever they are.
func silence(part any, named bool) {
	switch part := part.(type) {
	case map[string]any:
		for name, v := range part {
			if _, text := v.(string); text && !named && slices.Contains([]string{"description", "summary"}, name) {
				part[name] = "" // answers and the document itself have to have one
				continue
			}
			silence(v, !named && slices.Contains([]string{"properties", "schemas", "responses", "paths", "content",
				"headers", "securitySchemes"}, name))
		}
	case []any:
		for _, v := range part {
			silence(v, false)
		}
	}
}
