package sqlite

import (
	"context"
	"database/sql/driver"
	"math"
	"strconv"
	"strings"

	"pawl/kernel"
)

// A list of the rows in some states has to come in the order of insertion, which no index of states has: an index that
// had it would be one more to write with every transition. What is there has that order within each rank, and of
// issues, which have very many ranks, within each state. So such a list is merged from its parts, each of which comes
// in order: a page of it costs as much as it is long, and not as much as there are rows in these states.

// maxParts is how many parts a list is merged from at most. One of more parts is sorted.
const maxParts = 16

// merges reports whether a selection is such a list. Of other kinds there are few rows in one state, or a parent.
func merges(sel *kernel.Select) bool {
	switch sel.Kind {
	case kernel.KindTask, kernel.KindRun:
	case kernel.KindIssue:
		if len(sel.States) < 2 {
			return false // an index of theirs has that order
		}
	default:
		return false
	}
	return len(sel.States) > 0 && !sel.ByRank && sel.DueBy.IsZero() && sel.ID == "" && sel.Label == "" &&
		sel.Parent == ""
}

// part is one of the parts of a list: the rows in a state that have a rank.
type part struct {
	state string
	rank  int64
}

// parts are those of a selection; ok is false where they are too many.
func (c *conn) parts(sel *kernel.Select) (out []part, ok bool, err error) {
	q, err := c.prepare("SELECT rank FROM entity INDEXED BY entity_state WHERE kind=? AND state=? AND rank<=? " +
		"ORDER BY rank DESC LIMIT 1")
	if err != nil {
		return nil, false, err
	}
	seen := map[string]bool{}
	for _, state := range sel.States {
		if seen[state] {
			continue // a state that is named twice is listed once
		}
		seen[state] = true
		for below := int64(math.MaxInt64); ; {
			if len(out) > maxParts {
				return nil, false, nil
			}
			if sel.Kind == kernel.KindIssue {
				out = append(out, part{state: state})
				break
			}
			found, err := q.one(string(sel.Kind), state, below)
			if err != nil {
				return nil, false, err
			}
			if !found {
				break
			}
			out = append(out, part{state, q.int(0)})
			if q.int(0) == math.MinInt64 {
				break
			}
			below = q.int(0) - 1
		}
	}
	return out, len(out) <= maxParts, nil
}

// merged runs a selection that merges, and calls yield with its rows until that says no. It is done within a snapshot,
// so that no row is in another part when that is read than when the parts were looked for.
func (c *conn) merged(ctx context.Context, sel *kernel.Select, yield func(kernel.Row) bool) error {
	parts, ok, err := c.parts(sel)
	switch {
	case err != nil:
		return err
	case !ok:
		text, args := query(sel)
		return c.rowsOf(ctx, text, args, yield)
	case len(parts) == 0:
		return nil
	}
	one := columns
	if !sel.HotOnly {
		one += document
	}
	if sel.Kind == kernel.KindIssue {
		one += " FROM entity e INDEXED BY entity_issue WHERE e.kind='issue' AND e.state=?"
	} else {
		one += " FROM entity e INDEXED BY entity_state WHERE e.kind=? AND e.state=? AND e.rank=?"
	}
	order := " ORDER BY 1"
	if sel.Newest {
		order += " DESC"
	}
	if sel.After != 0 {
		one += map[bool]string{false: " AND e.pos>?", true: " AND e.pos<?"}[sel.Newest]
	}
	var args []driver.Value
	for _, p := range parts {
		if sel.Kind == kernel.KindIssue {
			args = append(args, p.state)
		} else {
			args = append(args, string(sel.Kind), p.state, p.rank)
		}
		if sel.After != 0 {
			args = append(args, sel.After)
		}
	}
	text := strings.TrimSuffix(strings.Repeat(one+" UNION ALL ", len(parts)), " UNION ALL ") + order
	if sel.Limit > 0 {
		text += " LIMIT " + strconv.Itoa(sel.Limit)
	}
	return c.rowsOf(ctx, text, args, yield)
}
