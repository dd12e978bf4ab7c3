package scripted

import (
	"encoding/json"
	"strings"

	"pawl/agent/wire"
	"pawl/text/display"
)

// structuredID is the id of a call that gives a structured answer.
const structuredID = "structured_1"

// asks returns the purpose of a document that an agent is asked for in words, "" where none is. A request without tools
// is about a title or a summary.
func (q *query) asks() string {
	if len(q.tools) == 0 && !q.json {
		return ""
	}
	for _, heading := range []string{Judging, Planning, Reviewing} {
		if strings.Contains(q.seen.Body, heading+`\n`) {
			return strings.TrimPrefix(heading, asking)
		}
	}
	return ""
}

// place finds what is played to a request. Where something is asked and no branch is about that, it is a document.
func (q *query) place(script Script) (at [2]int) {
	purpose := q.asks()
	q.seen.Branch, q.seen.Step = script.next(q.seen.Body, purpose)
	switch {
	case purpose != "" && q.seen.Branch == 0:
		q.json, q.schema, q.forced, q.seen.Step = true, purpose, q.structured(), 0
	case purpose != "":
		q.json = false
	case q.seen.Form == wire.Gemini && !callIDs().MatchString(q.seen.Body):
		// Gemini's callers may drop the ids of calls; then the calls are counted.
		q.seen.Step = min(strings.Count(q.seen.Body, `"functionCall"`), len(script.Branches[q.seen.Branch].Steps)-1)
	}
	return [2]int{q.seen.Branch, q.seen.Step}
}

// structured is the tool by which the answer is to be given, "" for words.
func (q *query) structured() string {
	if t, ok := find(q.tools, []string{"StructuredOutput"}); ok {
		return t.Name
	}
	return q.forced
}

// given reports whether the answer to what was asked last was given by its tool.
func (q *query) given() bool {
	return strings.LastIndex(q.seen.Body, structuredID) > strings.LastIndex(q.seen.Body, asking)
}

// sensible is a document about the requirement of a request: it is clear, and takes one step. Work that is
// reviewed is fine. A document of another purpose is empty.
func sensible(purpose, body string) json.RawMessage {
	requirement := requirementOf(body)
	first, _, _ := strings.Cut(requirement, "\n")
	first = strings.TrimSpace(display.Head(first, 150))
	type object = map[string]any
	doc := object{}
	switch asking + purpose {
	case Judging:
		said, score := []object{{"quote": first}}, 10
		dims := []object{}
		for _, d := range []struct {
			name   string
			points int
		}{{"goal", 3}, {"criteria", 3}, {"scope", 2}, {"limits", 2}} {
			dims = append(dims, object{"name": d.name, "points": d.points, "evidence": said})
		}
		doc = object{"class": "bugfix", "score": score, "risk": "low", "dimensions": dims, "questions": []any{},
			"factors": object{"new": false, "major": false, "design": "simple", "extent": "local"}, "ehrb": []any{},
			"why": "It says what is to be done."}
	case Reviewing:
		doc = object{"verdict": "no_objection", "objections": []any{}}
	case Planning:
		doc = object{"goal": first, "risk_level": "low", "verification": object{"mode": "test"},
			"steps": []object{{"step_id": "s1", "title": first, "intent": requirement}}}
	}
	return json.RawMessage(encode(doc))
}

// requirementOf reads the requirement in a prompt that stands in a request.
func requirementOf(body string) string {
	const heading, end = `## Requirement\n`, `\n\n## `
	_, rest, _ := strings.Cut(body, heading)
	rest, _, _ = strings.Cut(rest, end)
	if i := closing(rest); i >= 0 {
		rest = rest[:i]
	}
	var text string
	if json.Unmarshal([]byte(`"`+rest+`"`), &text) != nil || strings.TrimSpace(text) == "" {
		return "what was asked for"
	}
	return strings.TrimSpace(text)
}

// closing is where a string of JSON ends, -1 where it does not.
func closing(s string) int {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			return i
		}
	}
	return -1
}
