package view

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"pawl/machine/board"
)

// BoardFile is a state.json of a board that was made earlier, taken apart so that what did not change since is neither
// read nor encoded again. Nothing of it is changed.
type BoardFile struct {
	state  board.State // without its issues
	issues []byte      // the lines about them, in the order of their ids
}

// What stands around the issues of a state.json that has any, and in their place where it has none. No text in a file
// looks like that: what is in one has no line breaks.
const (
	issuesBegin = "\n  \"issues\": {\n"
	issuesEnd   = "\n  },\n  \"queue\": ["
	issuesNone  = "\n  \"issues\": {},\n"
	issueBegin  = "    \""
	issueEnd    = "\n    }"
)

// OpenBoardFile takes a file apart that StateJSON or With has made. Another one, and one without issues, is not ok.
func OpenBoardFile(content []byte) (f *BoardFile, ok bool) {
	begin := bytes.Index(content, []byte(issuesBegin))
	end := bytes.Index(content, []byte(issuesEnd))
	if begin < 0 || end < begin {
		return nil, false
	}
	f = &BoardFile{issues: content[begin+len(issuesBegin) : end]}
	rest := slices.Concat(content[:begin], []byte(issuesNone), content[end+len("\n  },\n"):])
	return f, json.Unmarshal(rest, &f.state) == nil
}

// Of reports whether the file is of a batch, as far as the time at which that began can tell.
func (f *BoardFile) Of(b Batch) bool { return f.state.CreatedAt == stamp(b.Created) }

// Failed are the ids of the issues that the error log names, in its order.
func (f *BoardFile) Failed() (ids []string) {
	for _, e := range f.state.Errors {
		ids = append(ids, e.IssueID)
	}
	return ids
}

// With returns the file of the batch as it is now: b has all errors, but of the issues and the queue only what may have
// changed and is to be shown. Changed are the ids of all issues that may have changed, whether they are to be shown or
// not.
func (f *BoardFile) With(b Batch, changed []string) []byte {
	now := b.state()
	news, counts := now.Issues, f.state.Context
	changed = slices.Compact(slices.Sorted(slices.Values(changed)))
	lines := make([]byte, 0, len(f.issues)+512*len(news))
	put := func(id string) {
		i, ok := news[id]
		if !ok {
			return
		}
		count(&counts, i.Status, 1)
		text := bytes.TrimSpace(indented(map[string]board.IssueState{id: i}))
		text = bytes.TrimSuffix(bytes.TrimPrefix(text, []byte("{")), []byte("\n}"))
		lines = append(append(lines, bytes.ReplaceAll(text, []byte("\n"), []byte("\n  "))...), ',')
	}
	left := changed
	for rest := f.issues; len(rest) > 0; {
		at := bytes.Index(rest, []byte(issueEnd)) + len(issueEnd)
		one := rest[:at]
		rest = bytes.TrimPrefix(rest[at:], []byte(",\n"))
		id := string(one[len(issueBegin) : len(issueBegin)+bytes.IndexByte(one[len(issueBegin):], '"')])
		for ; len(left) > 0 && left[0] < id; left = left[1:] {
			put(left[0])
		}
		if len(left) > 0 && left[0] == id {
			count(&counts, statusIn(one, id), -1)
			continue
		}
		lines = append(append(append(lines, '\n'), one...), ',')
	}
	for _, id := range left {
		put(id)
	}
	now.Issues, now.Context, now.Queue = map[string]board.IssueState{}, counts, f.queue(now.Queue, changed)
	now.UpdatedAt = max(now.UpdatedAt, f.state.UpdatedAt)
	out := indented(now)
	if counts.TotalIssues == 0 {
		return out
	}
	before, after, _ := bytes.Cut(out, []byte(issuesNone))
	return slices.Concat(before, []byte(issuesBegin[:len(issuesBegin)-1]), lines[:len(lines)-1], []byte("\n  },\n"),
		after)
}

// statusIn is the status of an issue that the file has lines about.
func statusIn(lines []byte, id string) board.IssueStatus {
	var one map[string]board.IssueState
	// They are the file's own, which has been made from one.
	_ = json.Unmarshal(slices.Concat([]byte("{"), lines, []byte("}")), &one)
	return one[id].Status
}

// queue is the queue with what is new in it, in the order of its items' numbers, which is that of the registrations.
func (f *BoardFile) queue(news []board.QueueItem, changed []string) []board.QueueItem {
	out := slices.Clone(news)
	for _, q := range f.state.Queue {
		if _, found := slices.BinarySearch(changed, q.IssueID); !found {
			out = append(out, q)
		}
	}
	number := func(q board.QueueItem) int64 {
		n, _ := strconv.ParseInt(strings.TrimPrefix(q.ItemID, "S-"), 10, 64)
		return n
	}
	slices.SortFunc(out, func(a, b board.QueueItem) int { return int(number(a) - number(b)) })
	return out
}
