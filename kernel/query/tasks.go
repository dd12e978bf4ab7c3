package query

import (
	"bytes"
	"context"
	"strings"
	"time"

	"pawl/kernel"
	"pawl/kernel/view"
)

// maxLooked is how many tasks are looked at for one page of those that are searched for: no more than what a person who
// waits for the page does not notice.
const maxLooked = 3000

// TaskFilter says which tasks are listed: those of a page that hold each of the words in label, title or goal, in any
// case, whose run is of an agent, and that were changed since an instant.
type TaskFilter struct {
	Page
	Search string
	Agent  string
	Since  time.Time
}

// FindTasks lists tasks, at most Limit of them. Next is where a further page begins, 0 for none: there may be more
// behind it, but only so many are looked at for one page.
func FindTasks(ctx context.Context, r Reader, f TaskFilter) (out []view.TaskLine, next int64, err error) {
	out = []view.TaskLine{}
	words, agents, looked := strings.Fields(strings.ToLower(f.Search)), map[string]string{}, 0
	sel := f.selection(kernel.KindTask)
	sel.Limit = maxLooked + 1
	for row, err := range r.store.Scan(ctx, sel) {
		switch looked++; {
		case err != nil:
			return nil, 0, err
		case len(out) == f.Limit || looked > maxLooked:
			return out, next, nil
		}
		next = row.Pos
		if row.UpdatedAt.Before(f.Since) || f.Agent != "" && row.Parent == "" || !mayHold(row, words) {
			continue // a task without a parent is of no run, and so of no agent
		}
		t := new(kernel.Task)
		if err := kernel.Decode(row, t); err != nil {
			return nil, 0, err
		}
		if ok, err := taskFits(ctx, r.store, t, words, f.Agent, agents); err != nil {
			return nil, 0, err
		} else if ok {
			out = append(out, LineOf(t))
		}
	}
	return out, 0, nil
}

// mayHold reports whether a row can hold words, without taking its document apart.
func mayHold(row kernel.Row, words []string) bool {
	if len(words) == 0 {
		return true
	}
	text := bytes.ToLower(row.Doc)
	for _, w := range words {
		// What documents write in another way than it is read is looked for later.
		if !strings.ContainsAny(w, "<>&\"\\\u2028\u2029") && !bytes.Contains(text, []byte(w)) &&
			!strings.Contains(strings.ToLower(row.Label), w) {
			return false
		}
	}
	return true
}

// taskFits reports whether a task holds words and is of an agent. The agents of runs are read once.
func taskFits(ctx context.Context, store kernel.Store, t *kernel.Task, words []string, agent string,
	agents map[string]string) (bool, error) {
	text := t.Label + " " + t.Title
	if t.Plan != nil {
		text += " " + t.Plan.Goal
	}
	text = strings.ToLower(text)
	for _, w := range words {
		if !strings.Contains(text, w) {
			return false, nil
		}
	}
	if agent == "" {
		return true, nil
	}
	of, known := agents[t.Parent]
	if !known && t.Session != "" {
		run := new(kernel.Run)
		if _, err := first(ctx, store, kernel.Select{Kind: kernel.KindRun, ID: t.Parent}, run); err != nil {
			return false, err
		}
		of = run.Agent
		agents[t.Parent] = of
	}
	return strings.EqualFold(of, agent), nil
}
