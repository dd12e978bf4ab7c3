// Package scripted is a model server without a model: it speaks the wire forms of the common model interfaces on
// loopback and plays a script. It keeps no conversation: the id of every call that it asks for says which step of the
// script it is, and the step after the highest one in a request is played next. An agent that goes on after a crash
// therefore plays the next step only if it brought its history back. pawl tries agents out with it (agent/check), and
// its tests use it.
package scripted

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Script is what the model does.
type Script struct {
	// Branches are sequences of steps. The last branch whose When is part of the request is played; the first one has
	// no When.
	Branches []Branch `json:"branches"`
	// JSON answers requests that ask for a structured answer, by the name of the schema; "" for any other. "plan#2"
	// answers the second and later requests for a plan that the server gets. What is no JSON is said as it is. An agent
	// that is asked in words gets the same, unless a branch begins with Judging, Planning or Reviewing, and
	// something sensible where there is none.
	JSON map[string]json.RawMessage `json:"json,omitempty"`
}

// Branch is a sequence of steps. Behind its end the last step is played again.
type Branch struct {
	When  string `json:"when,omitempty"`
	Steps []Step `json:"steps"`
}

// Step is one answer.
type Step struct {
	Text  string `json:"text,omitempty"`
	Calls []Call `json:"calls,omitempty"`
	// Status answers with an error of HTTP instead, Times often (1 unless set); RetryAfter goes with it.
	Status     int    `json:"status,omitempty"`
	Times      int    `json:"times,omitempty"`
	RetryAfter string `json:"retry_after,omitempty"`
	// Cut ends the connection after so many bytes of the body, Times often or always when Times is 0.
	Cut int `json:"cut,omitempty"`
	// Wait passes before the answer, Drip before each piece of it.
	Wait time.Duration `json:"wait,omitempty"`
	Drip time.Duration `json:"drip,omitempty"`
	// Thought is what the model thinks before it speaks, with a signature where the wire form has one: the caller has
	// to bring both back.
	Thought string `json:"thought,omitempty"`
	// Repeat makes the text longer. Flood sends the first piece of the text again until a stream has so many bytes.
	Repeat int `json:"repeat,omitempty"`
	Flood  int `json:"flood,omitempty"`
	// Finish replaces the reason that the answer gives for its end.
	Finish string `json:"finish,omitempty"`
	// Out and In are the tokens that the answer says it cost; 0 says 10 and 100.
	Out int `json:"out,omitempty"`
	In  int `json:"in,omitempty"`
}

// Call is a tool call in words that fit many agents: the server looks for a tool of the request that can do it.
type Call struct {
	// Write writes Content to a file, Read reads one, Run runs a shell command; exactly one of them is set, or Name.
	Write   string `json:"write,omitempty"`
	Content string `json:"content,omitempty"`
	Read    string `json:"read,omitempty"`
	Run     string `json:"run,omitempty"`
	// Name asks for one tool by its name with Args as they are, whether or not they are JSON.
	Name string `json:"name,omitempty"`
	Args string `json:"args,omitempty"`
}

// Repairing is the heading under which the prompts for repairs tell of the failure.
const Repairing = "## What failed"

// Judging, Planning, Reviewing and Rewriting are the headings under which prompts tell the form of a judgement, of a
// plan, of a review and of what is said of a disputed test.
const (
	Judging   = asking + "intake"
	Planning  = asking + "plan"
	Reviewing = asking + "review"
	Rewriting = asking + "rewrite"

	asking = "## Form: "
)

// Finished is what the model of FixBug says at the end of its first, wrong attempt.
const Finished = "Done, all tests pass."

// FixBug reads a file, writes the wrong content and says that it is done; told of the failure it writes the right one.
// Some agents refuse to write a file that was not read before.
func FixBug(file, wrong, right string) Script {
	edit := func(content, last string) []Step {
		return []Step{{Text: "I look at it.", Calls: []Call{{Read: file}}},
			{Text: "I edit it.", Calls: []Call{{Write: file, Content: content}}}, {Text: last}}
	}
	return Script{Branches: []Branch{{Steps: edit(wrong, Finished)},
		{When: Repairing, Steps: edit(right, "Mended, all tests pass.")}}}
}

// Liar says that it is done and does nothing.
func Liar() Script {
	return Script{Branches: []Branch{{Steps: []Step{{Text: "Done. All tests pass."}}}}}
}

// Thinks is the signature of every thought.
const Thinks = "c2lnbmF0dXJlIG9mIGEgdGhvdWdodA=="

// callID is the id of a call: branch, step and number within the step.
func callID(branch, step, n int) string { return fmt.Sprintf("call_b%ds%dn%d", branch, step, n) }

var callIDs = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`call_b(\d+)s(\d+)n(\d+)`) })

// next finds the branch and the step that a request asks for. Where something is asked, the first branch stands for
// the document.
func (s Script) next(body, purpose string) (branch, step int) {
	for i, b := range s.Branches {
		played := b.When != "" && strings.Contains(body, b.When)
		if purpose != "" {
			played = played && strings.HasPrefix(b.When, asking)
		}
		if i == 0 || played {
			branch = i
		}
	}
	for _, m := range callIDs().FindAllStringSubmatch(body, -1) {
		b, _ := strconv.Atoi(m[1])
		n, _ := strconv.Atoi(m[2])
		if b == branch {
			step = max(step, n+1)
		}
	}
	return branch, min(step, len(s.Branches[branch].Steps)-1)
}
