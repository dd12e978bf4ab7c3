package checkpoint

import (
	"context"
	"io"
	"regexp"
	"strings"
	"sync"

	"pawl/kernel/effect"
	"pawl/sandbox/git"
	"pawl/sandbox/git/object"
	"pawl/text/policy"
	"pawl/text/secret"
)

// maxLooked is how much of each file of a change is looked at for secrets.
const maxLooked = 8 << 20

// Change is what a work changed from one recorded tree to another, as the policy judges it. Known finds the secrets; a
// file is not told of those that it held before.
func (s Snapshotter) Change(ctx context.Context, p effect.Place, from, to string,
	known *secret.Redactor) ([]policy.Entry, error) {
	repo, err := open(ctx, s.memory, p)
	if err != nil {
		return nil, err
	}
	sides, err := repo.Objects.Diff(ctx, from, to)
	if err != nil {
		return nil, err
	}
	l := look{known: known, entries: make([]policy.Entry, len(sides)), held: map[int][]string{}}
	before := map[string]bool{}
	for _, side := range sides {
		before[side.Old.ID] = true
	}
	var ids []string
	var of []int
	for i, side := range sides {
		l.entries[i] = policy.Entry{Path: side.Path, Mode: side.New.Mode, Digest: side.New.ID,
			New: side.Old.Absent() && !before[side.New.ID]}
		if !side.New.Absent() && side.New.Mode != object.ModeNested {
			ids, of = append(ids, side.New.ID), append(of, i)
		}
	}
	err = repo.Objects.Blobs(ctx, ids, func(n int, size int64, content io.Reader) error {
		text, err := beginning(content, size)
		l.now(of[n], size, text, before[ids[n]])
		return err
	})
	if err != nil {
		return nil, err
	}
	return l.entries, l.before(ctx, repo.Objects, sides)
}

// look is a change that is looked at.
type look struct {
	known   *secret.Redactor
	entries []policy.Entry
	held    map[int][]string // the secrets themselves, by entry
}

// now looks at what a file says. Moved says that the content stood elsewhere before.
func (l *look) now(i int, size int64, text string, moved bool) {
	e := &l.entries[i]
	if e.Size = size; e.Mode == object.ModeLink {
		e.Target = text
		return
	}
	e.Head = isHead().MatchString(text)
	if moved {
		return
	}
	e.Marked = secret.IsMarked(text)
	tried := trial().MatchString(e.Path) || strings.ContainsRune(text, 0)
	for _, f := range l.known.Find(text) {
		if !f.Weak && !(tried && f.Rule == secret.RuleAssigned) {
			e.Secrets = append(e.Secrets, policy.Sighting{Line: f.Line(text), Shown: f.Masked(text)})
			l.held[i] = append(l.held[i], text[f.From:f.To])
		}
	}
}

// before takes out what stood in a file before the work.
func (l *look) before(ctx context.Context, objects git.Objects, sides []git.Change) error {
	var ids []string
	var of []int
	for i, e := range l.entries {
		old := sides[i].Old
		if (e.Marked || len(e.Secrets) > 0) && !old.Absent() && old.Mode != object.ModeNested {
			ids, of = append(ids, old.ID), append(of, i)
		}
	}
	return objects.Blobs(ctx, ids, func(n int, size int64, content io.Reader) error {
		text, err := beginning(content, size)
		e := &l.entries[of[n]]
		e.Marked = e.Marked && !secret.IsMarked(text)
		var left []policy.Sighting
		for j, value := range l.held[of[n]] {
			if !strings.Contains(text, value) {
				left = append(left, e.Secrets[j])
			}
		}
		e.Secrets = left
		return err
	})
}

// beginning reads a content to its end and returns as much of it as is looked at.
func beginning(content io.Reader, size int64) (string, error) {
	var text strings.Builder
	if _, err := io.CopyN(&text, content, min(size, maxLooked)); err != nil {
		return "", err
	}
	_, err := io.CopyN(io.Discard, content, size-int64(text.Len()))
	return text.String(), err
}

// isHead matches what the file HEAD of a repository says.
var isHead = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:ref:\s*refs/|(?:[0-9a-f]{40}|[0-9a-f]{64})\s*$)`)
})

// trial matches files of tests and examples: random values that they hold are made for them.
var trial = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)(?:^|[/_.-])(?:tests?|testdata|fixtures?|examples?|samples?|mocks?|specs?|e2e)(?:[/_.-]|$)`)
})
