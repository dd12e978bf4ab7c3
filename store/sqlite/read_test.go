package sqlite

import (
	"path/filepath"
	"strings"
	"testing"

	"pawl/kernel"
)

// TestListsRunInOrder: what is listed a page at a time is found in its order, so that a page costs the same in a store
// of any size.
func TestListsRunInOrder(t *testing.T) {
	s, err := Open(filepath.Join(t.TempDir(), "pawl.db"), Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	conn, err := s.reader(t.Context(), "test")
	if err != nil {
		t.Fatal(err)
	}
	defer s.give(conn)
	issue, status := kernel.Select{Kind: kernel.KindIssue, Limit: 50}, kernel.Select{Kind: kernel.KindIssue,
		States: []string{"registered"}}
	page, behind, last, ranked := status, status, status, status
	page.Limit, behind.After, behind.Limit, last.Newest, last.Limit, ranked.ByRank, ranked.Limit = 50, 7, 50, true, 50,
		true, 50
	for name, c := range map[string]struct {
		sel   kernel.Select
		index string
	}{
		"issues": {issue, "entity_kind"}, "of a status": {status, "entity_issue"}, "a page": {page, "entity_issue"},
		"behind": {behind, "entity_issue"}, "the last": {last, "entity_issue"}, "by rank": {ranked, "entity_state"},
	} {
		text, args := query(&c.sel)
		q, err := conn.prepare("EXPLAIN QUERY PLAN " + text)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if err := q.query(args...); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var steps []string
		for ok, err := q.next(); ok || err != nil; ok, err = q.next() {
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			steps = append(steps, q.text(3))
		}
		if err := q.done(); err != nil {
			t.Error(err)
		}
		if plan := strings.Join(steps, "; "); !strings.Contains(plan, "SEARCH e USING INDEX "+c.index+" ") ||
			strings.Contains(plan, "TEMP B-TREE") {
			t.Errorf("%s: %s", name, plan)
		}
	}
}
