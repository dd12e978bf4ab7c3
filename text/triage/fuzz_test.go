package triage

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pawl/text/policy"
)

func seeds(f *testing.F) {
	for _, name := range []string{"ehrb.tsv", "route.tsv", "score.tsv"} {
		for i, e := range examples(f, name) {
			if i%7 == 0 {
				f.Add(e.text)
			}
		}
	}
	f.Add("\u200b~\u00a0İ'“`~~~\n```")
}

func sound(t *testing.T, text string, list []Finding) {
	t.Helper()
	for _, x := range list {
		if x.Quote == "" || x.In(text) != x.Quote {
			t.Fatalf("%q: %+v", text, x)
		}
	}
	if len(list) > maxFound {
		t.Fatal(len(list))
	}
}

func FuzzDetect(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, text string) {
		sound(t, text, Detect(text))
		sound(t, text, DetectCommand(text))
		for _, name := range []string{"a.sh", "a.sql", "a.go", "a.md", "a_test.go"} {
			for _, p := range DetectChange(name, policy.OpWrite, text) {
				if p.Where == "content" {
					sound(t, text, []Finding{p.Finding})
				}
			}
		}
		for _, p := range detectPatch(text) {
			sound(t, text, []Finding{p.Finding})
		}
	})
}

func FuzzDecide(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, text string) {
		got, err := Decide(text, Situation{Tools: []string{"lint"}})
		if err != nil {
			return
		}
		if got.Kind == "" || got.Layer == "" || got.Why.Key == "" || got.At != (Span{}) && got.At.In(text) == "" &&
			got.At.Start != got.At.End {
			t.Fatalf("%q: %+v", text, got)
		}
	})
}

func FuzzEvaluate(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, text string) {
		answers := []Answer{{Criteria, text}, {Scope, "all"}}
		e, err := Evaluate(text, answers)
		if err != nil {
			return
		}
		if err := e.Check(Merge(text, answers)); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if len(e.Questions) == 0 != e.Ready() {
			t.Fatalf("%q: %+v", text, e)
		}
	})
}

func FuzzDecode(f *testing.F) {
	good, _ := json.Marshal(modelDocument())
	f.Add(string(good))
	own, _ := Evaluate(modelText, nil)
	raw, _ := json.Marshal(own)
	f.Add(string(raw))
	f.Add(`{"dimensions":[{"name":"goal","points":1,"evidence":[{"quote":"add","start":-1,"end":99}]}]}`)
	f.Fuzz(func(t *testing.T, doc string) {
		e, err := Decode([]byte(doc), modelText)
		if err != nil {
			return
		}
		again, _ := json.Marshal(e)
		back, err := Decode(again, modelText)
		if d := cmp.Diff(e, back); err != nil || d != "" {
			t.Fatalf("%s: %v %s", doc, err, d)
		}
	})
}
