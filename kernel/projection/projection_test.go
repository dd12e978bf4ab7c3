package projection

import (
	"context"
	"testing"
	"time"

	"pawl/kernel"
	"pawl/kernel/joined"
)

// shelf is a store that has nothing but rows.
type shelf struct {
	kernel.Store
	rows map[kernel.Kind][]kernel.Row
}

func (s shelf) Load(_ context.Context, sel ...kernel.Select) ([][]kernel.Row, error) {
	out := make([][]kernel.Row, len(sel))
	for i, q := range sel {
		for n := range s.rows[q.Kind] {
			out[i] = append(out[i], s.rows[q.Kind][len(s.rows[q.Kind])-1-n]) // newest first
		}
	}
	return out, nil
}

func TestReplacedDecisions(t *testing.T) {
	at := func(n int) time.Time { return time.Date(2026, 2, n, 0, 0, 0, 0, time.UTC) }
	k := kernel.New(joined.Table(), shelf{rows: map[kernel.Kind][]kernel.Row{
		kernel.KindDecision: {
			{Kind: kernel.KindDecision, ID: "d1", CreatedAt: at(1),
				Doc: []byte(`{"decision_type":"Lib","content":"old"}`)},
			{Kind: kernel.KindDecision, ID: "d2", CreatedAt: at(2),
				Doc: []byte(`{"decision_type":"Lib","content":"new","replaces":"d1"}`)},
		},
		kernel.KindIncident: {{Kind: kernel.KindIncident, ID: "e1", CreatedAt: at(3),
			Doc: []byte(`{"error_type":"E_IO","root_cause":"c"}`)}},
	}}, kernel.Config{}, nil, nil)
	decisions, incidents, err := decisions(context.Background(), k)
	if err != nil || len(decisions) != 2 || len(incidents) != 1 {
		t.Fatalf("%v %v %v", decisions, incidents, err)
	}
	if d := decisions[0]; d.ID != "d1" || d.ReplacedBy != "d2" || !d.ReplacedAt.Equal(at(2)) ||
		decisions[1].ReplacedBy != "" {
		t.Errorf("decisions %+v", decisions)
	}
}
