package scripted

import (
	"encoding/json"
	"strings"

	"pawl/agent/wire"
	"pawl/text/display"
)

// Structured begins the id of a call that gives a structured answer.
const Structured = "structured_"

// asks returns the purpose of a document that an agent is asked for in words, "" where none is. A request without tools
// is about a title or a summary.
func (q *query) asks() string {
	if len(q.tools) == 0 && !q.json {
		return ""
	}
	for _, heading := range []string{Judging, Planning, Reviewing, Rewriting} {
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
		q.json, q.schema, q.seen.Step = true, purpose, 0
		q.forced = q.structured()
	case purpose != "":
		q.json = false
	case q.seen.Form == wire.Gemini && !callIDs().MatchString(q.seen.Body):
		// Gemini's callers may drop the ids of calls; then the calls are counted, from where the branch began.
		b := script.Branches[q.seen.Branch]
		rest := q.seen.Body
		if at := strings.LastIndex(rest, b.When); b.When != "" && at >= 0 {
			rest = rest[at:]
		}
		q.seen.Step = min(strings.Count(rest, `"functionCall"`), len(b.Steps)-1)
	}
	return [2]int{q.seen.Branch, q.seen.Step}
}

// structured is the tool by which the answer is to be given, "" for words.
func (q *query) structured() string {
	for _, t := range q.tools {
		if t.Name == "StructuredOutput" {
			return t.Name
		}
	}
	return q.forced
}

// refused is in the result of a tool that did not take an answer.
const refused = "Your answer cannot be used"

// given reports whether the answer to what was asked last was given by its tool, and taken.
func (q *query) given() bool {
	at := strings.LastIndex(q.seen.Body, Structured)
	return at > strings.LastIndex(q.seen.Body, asking) && !strings.Contains(q.seen.Body[at:], refused)
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
	case Rewriting:
		doc = object{"verdict": "keep", "reason": "It asks for what was wanted."}
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
