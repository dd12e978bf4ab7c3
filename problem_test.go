package pawl_test

import (
	"errors"
	"testing"

	"pawl"
)

func TestPlaces(t *testing.T) {
	for _, c := range []struct {
		problem pawl.Problem
		want    string
	}{
		{pawl.Problem{}, ""},
		{pawl.Problem{File: "a.yaml"}, "a.yaml"},
		{pawl.Problem{File: "a.yaml", Line: 2}, "a.yaml:2"},
		{pawl.Problem{File: "a.yaml", Line: 2, Col: 7, Field: "goal"}, "a.yaml:2:7 goal"},
		{pawl.Problem{Line: 2, Col: 7}, "2:7"},
		{pawl.Problem{Col: 7, Field: "/x"}, "/x"},
		{pawl.Problem{File: "a.json", Field: "/x"}, "a.json /x"},
	} {
		if got := c.problem.Place(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

func TestProblems(t *testing.T) {
	all := &pawl.Problems{At: "plan.at", Whole: "plan", More: 3, List: []pawl.Problem{
		{File: "a.yaml", Line: 2, Key: "plan.missing", Args: []any{"goal", 7}}, {Key: "plan.empty"},
	}}
	if got, want := all.Error(), "a.yaml:2: plan.missing goal 7; plan: plan.empty; and 3 more"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	causes := all.Unwrap()
	for n, e := range all.Errors() {
		var inner *pawl.Error
		if !errors.As(e.Err, &inner) || e.Key != "plan.at" || e.Args[0] != []any{"a.yaml:2", "plan"}[n] ||
			inner.Key != all.List[n].Key || len(inner.Args) != len(all.List[n].Args) {
			t.Errorf("%+v caused by %+v", e, inner)
		}
		if causes[n].Error() != e.Error() {
			t.Errorf("cause %d: %v, want %v", n, causes[n], e)
		}
	}
	for range pawl.MaxProblems {
		all.Add(pawl.Problem{Key: "plan.empty"})
	}
	if len(all.List) != pawl.MaxProblems || all.Rest() != 5 {
		t.Errorf("%d are listed, %d left out", len(all.List), all.Rest())
	}
}
