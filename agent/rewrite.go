package agent

import (
	"errors"
	"fmt"
	"strings"

	"pawl/kernel/effect"
	"pawl/text/plan"
	"pawl/text/strictjson"
)

// rewrite is the document of whoever planned, about a test that somebody disputes.
type rewrite struct {
	Verdict string `json:"verdict"`
	Reason  string `json:"reason"`
	Content string `json:"content"`
}

// The verdicts on a disputed test.
const (
	keepsTest    = "keep"
	rewritesTest = "rewrite"
)

const rewriteForm = `{"type":"object","additionalProperties":false,"required":["verdict","reason"],"properties":{` +
	`"verdict":{"type":"string","enum":["keep","rewrite"]},"reason":{"type":"string"},"content":{"type":"string"}}}`

// RewriteQuestion asks for a test once more that somebody who works on the plan disputes.
func RewriteQuestion(spec effect.RewriteSpec, chinese bool) (Question, *effect.RewriteResult) {
	if spec.Lang != "" {
		chinese = strings.HasPrefix(strings.ToLower(spec.Lang), "zh")
	}
	found := new(effect.RewriteResult)
	text := Section("Requirement", head(spec.Requirement, maxGoal)) + answersText(spec.Answers) +
		Section("What the test has to show", head(Criteria(plan.Plan{Criteria: []plan.Criterion{spec.Criterion}}), maxStep)) +
		Section("What is said against the test", head(spec.Reason, maxStep)) +
		Section("The test: "+spec.Test.Path, head(spec.Test.Content, maxPack))
	return Question{Purpose: purposeRewrite, Chinese: chinese, Schema: rewriteForm, Text: text,
		take: func(raw []byte) error {
			var r rewrite
			if err := strictjson.Decode(raw, &r, strictjson.Options{Depth: maxDepth, HalfPairs: true}); err != nil {
				return err
			}
			found.Why, found.Content = r.Reason, r.Content
			return r.flaw(spec.Test)
		}}, found
}

// flaw is what is wrong with what is said of a test, nil where nothing is.
func (r rewrite) flaw(t plan.TestFile) error {
	switch {
	case r.Verdict != keepsTest && r.Verdict != rewritesTest:
		return fmt.Errorf("verdict: %q is neither %s nor %s", r.Verdict, keepsTest, rewritesTest)
	case strings.TrimSpace(r.Reason) == "" || len(r.Reason) > maxReason:
		return fmt.Errorf("reason: it is empty, or longer than %d bytes", maxReason)
	case r.Verdict == keepsTest && r.Content != "":
		return errors.New("content: a test that is kept has none")
	case r.Verdict == rewritesTest && (strings.TrimSpace(r.Content) == "" || r.Content == t.Content):
		return errors.New("content: it is empty, or as it was")
	}
	return nil
}
