package pawl_test

import (
	"errors"
	"testing"

	"pawl"
)

func TestFlaws(t *testing.T) {
	all := pawl.Flaws{More: 3, List: []pawl.Flaw{
		{Place: "a.yaml:2", Key: "plan.missing", Args: []any{"goal", 7}}, {Place: "plan", Key: "plan.empty"},
	}}
	if got, want := all.String(), "a.yaml:2: plan.missing goal 7; plan: plan.empty; and 3 more"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	causes := all.Causes("plan.at")
	for n, e := range all.Errors("plan.at") {
		var inner *pawl.Error
		if !errors.As(e.Err, &inner) || e.Key != "plan.at" || e.Args[0] != all.List[n].Place || inner.Key != all.List[n].Key || len(inner.Args) != len(all.List[n].Args) {
			t.Errorf("%+v caused by %+v", e, inner)
		}
		if causes[n].Error() != e.Error() {
			t.Errorf("cause %d: %v, want %v", n, causes[n], e)
		}
	}
	if got := (pawl.Flaws{}).String(); got != "" || len((pawl.Flaws{}).Causes("plan.at")) != 0 {
		t.Errorf("no flaws say %q", got)
	}
}
