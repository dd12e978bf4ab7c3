package plan

import (
	"encoding/json"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// running is a plan of four steps: done, blocked, pending, skipped.
func running() Plan {
	p := numbered(4)
	for i, s := range []Status{Done, Blocked, Pending, Skipped} {
		p.Steps[i].Status = s
	}
	p.Steps[2].DependsOn = []string{"s1"}
	return p
}

func patchOf(t *testing.T, text string) Patch {
	t.Helper()
	patch, _, err := DecodePatch("patch.json", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return patch
}

func TestApply(t *testing.T) {
	before := running()
	patch := patchOf(t, `{
	  "title": "New goal", "criteria": [{"id": "k", "text": "t", "proof": "gone", "paths": ["a"]}], "remove_steps": ["s2"], "reason": "s1 failed",
	  "update_steps": [
	    {"id": "s1", "description": "again", "dependencies": ["s0"], "tools_expected": [{"name": "x", "args_hint": {"a": 1}}]},
	    {"id": "s3", "title": "still skipped", "rollback_hint": "", "expected_artifacts": [{"type": "note", "value": "n"}]}
	  ],
	  "add_steps": [{"step_id": "s9", "title": "t", "intent": "i", "status": "done", "depends_on": ["s1"]}]
	}`)
	after, err := Apply(before, patch, DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	want := running()
	want.Goal = "New goal"
	want.Criteria = []Criterion{{ID: "k", Text: "t", Proof: ProofGone, Paths: []string{"a"}}}
	want.Steps = []Step{want.Steps[0], want.Steps[1], want.Steps[3],
		{StepID: "s9", Title: "t", Intent: "i", Status: Pending, DependsOn: []string{"s1"}}}
	s1, s3 := &want.Steps[1], &want.Steps[2]
	s1.Intent, s1.DependsOn, s1.Status = "again", []string{"s0"}, Pending
	s1.ToolCalls = []ToolCallTemplate{{Name: "x", ArgsHint: json.RawMessage(`{"a":1}`)}}
	s3.Title, s3.ExpectedArtifacts = "still skipped", []Artifact{{ArtifactNote, "n"}}
	if !reflect.DeepEqual(after, want) {
		t.Errorf("got  %+v\nwant %+v", after, want)
	}
	if !reflect.DeepEqual(before, running()) {
		t.Error("the plan that was patched changed")
	}
	after.Steps[1].ToolCalls[0].ArgsHint[0] = '?'
	after.Steps[3].DependsOn[0] = "?"
	after.Criteria[0].Paths[0] = "?"
	if (*patch.Criteria)[0].Paths[0] == "?" || (*patch.UpdateSteps[0].ToolsExpected)[0].ArgsHint[0] == '?' || patch.AddSteps[0].DependsOn[0] == "?" {
		t.Error("the result shares memory with the patch")
	}
}

func TestApplyRefuses(t *testing.T) {
	cases := map[string]struct {
		patch string
		want  []string
	}{
		"removing what is done": {`{"remove_steps":["s0"]}`, []string{"remove_steps[0] plan.done_step"}},
		"updating what is done": {`{"update_steps":[{"id":"s0","title":"x"}]}`,
			[]string{"update_steps[0].id plan.done_step"}},
		"unknown steps": {
			`{"remove_steps":["s7","nothing-like-it"],"update_steps":[{"id":"gone"}]}`,
			[]string{"remove_steps[0] plan.unknown_step_near", "remove_steps[1] plan.unknown_step",
				"update_steps[0].id plan.unknown_step"},
		},
		"both at once": {`{"remove_steps":["s2","s2"],"update_steps":[{"id":"s2"}]}`,
			[]string{"remove_steps[1] plan.named_twice", "update_steps[0].id plan.named_twice"}},
		"a known id": {`{"add_steps":[{"step_id":"s0","title":"t","intent":"i"}]}`,
			[]string{"add_steps[0].step_id plan.duplicate_step"}},
		"a reserved id": {`{"add_steps":[{"step_id":"fix1-1","title":"t","intent":"i"}]}`,
			[]string{"add_steps[0].step_id plan.reserved_id"}},
		"a dependency on what it removes": {`{"remove_steps":["s1"]}`,
			[]string{"steps[1].depends_on[0] plan.unknown_dependency_near"}},
		"a cycle": {`{"update_steps":[{"id":"s1","dependencies":["s2"]}]}`,
			[]string{"steps[1].depends_on plan.cycle"}},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := Apply(running(), patchOf(t, test.patch), DefaultLimits())
			if err == nil {
				t.Fatal("accepted")
			}
			if got := issuesOf(t, err); !slices.Equal(got, test.want) {
				t.Errorf("\ngot  %q\nwant %q", got, test.want)
			}
		})
	}
	if _, err := Apply(running(), Patch{Reason: "no reason"}, DefaultLimits()); err == nil {
		t.Error("a patch without effect was accepted")
	}
	if _, err := Apply(running(), Patch{Criteria: &[]Criterion{{ID: "k", Text: "t", Proof: "word"}}},
		DefaultLimits()); err == nil {
		t.Error("a criterion with an unknown proof was accepted")
	}
	if _, err := Apply(running(), Patch{AddSteps: numbered(13).Steps[4:]}, DefaultLimits()); err == nil {
		t.Error("13 steps were accepted")
	}
	repaired, err := FixSteps(running(), 1, numbered(12).Steps)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Apply(repaired, patchOf(t, `{"remove_steps":["fix1-12"]}`), DefaultLimits()); err != nil {
		t.Errorf("a plan with repairs cannot be patched: %v", err)
	}
}

func TestDecodePatchIsStrict(t *testing.T) {
	for in, want := range map[string]string{
		`{}`:                "1:1 plan.patch_empty",
		`{"reason":"r"}`:    "1:1 plan.patch_empty",
		`{"add_step":[]}`:   "1:2 add_step plan.unknown_field_near",
		`{"title":null}`:    "1:10 title plan.wrong_type",
		`{"criteria":null}`: "1:13 criteria plan.wrong_type",
		`{"criteria":[{"id":"a","text":"t","proof":"diff"}]}`: "1:14 criteria[0].paths plan.diff_paths",
		`{"title":" "}`:            "1:10 title plan.blank",
		`{"update_steps":[{}]}`:    "1:18 update_steps[0].id plan.missing_field",
		`{"remove_steps":["a b"]}`: "1:18 remove_steps[0] plan.bad_id",
		`{"update_steps":[{"id":"a","tools_expected":["x"]}]}`: "1:46 update_steps[0].tools_expected[0] plan.wrong_type",
		`[]`: "1:1 plan.wrong_type",
	} {
		_, _, err := DecodePatch("p", []byte(in))
		if err == nil {
			t.Errorf("%s: accepted", in)
			continue
		}
		if got := issuesOf(t, err); got[0] != want {
			t.Errorf("%s: got %q, want %q", in, got, want)
		}
	}
}

// TestApplyKeepsPlansSound applies random patches: the result passes Check, and what is done stays.
func TestApplyKeepsPlansSound(t *testing.T) {
	applied := 0
	rapid.Check(t, func(t *rapid.T) {
		p := anyPlan().Draw(t, "plan")
		var patch Patch
		for i, s := range p.Steps {
			switch rapid.IntRange(0, 3).Draw(t, "what") {
			case 0:
				patch.RemoveSteps = append(patch.RemoveSteps, s.StepID)
			case 1:
				title := oneLiner().Draw(t, "title")
				deps := []string{p.Steps[rapid.IntRange(0, i).Draw(t, "dep")].StepID}
				patch.UpdateSteps = append(patch.UpdateSteps,
					StepUpdate{ID: s.StepID, Title: &title, Dependencies: &deps})
			}
		}
		if rapid.Bool().Draw(t, "add") {
			patch.AddSteps = append(patch.AddSteps, anyStep("new", []string{p.Steps[0].StepID}).Draw(t, "new"))
		}
		out, err := Apply(p, patch, DefaultLimits())
		if err != nil {
			return
		}
		applied++
		if err := Check(out, nil, DefaultLimits()); err != nil {
			t.Fatal(err)
		}
		for _, s := range p.Steps {
			if at, ok := out.Find(s.StepID); s.Status == Done && (!ok || !reflect.DeepEqual(out.Steps[at], s)) {
				t.Fatalf("a step that is done changed: %+v", s)
			}
		}
	})
	if applied == 0 {
		t.Error("no patch was ever applied")
	}
}
