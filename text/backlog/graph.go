package backlog

import (
	"slices"
	"strconv"
	"strings"
)

// resolve turns what sources write of dependencies into external ids. An issue that is named twice counts once.
func (r *Reader) resolve() {
	for i := range r.drafts {
		d := &r.drafts[i]
		d.DependsOn = nil
		var seen map[string]bool
		for _, e := range d.edges {
			id, ok := r.find(e.ref)
			if why := r.gone[e.ref]; !ok && why != "" {
				r.rep.note(d.file, e.line, why, d.name(), clip(e.ref))
				continue
			}
			switch {
			case !ok && r.opt.Loose:
				r.rep.note(d.file, e.line, "backlog.note_unknown", d.name(), clip(e.ref))
			case !ok:
				r.rep.problem(d.file, e.line, e.pointer, "backlog.unknown", d.name()+" → "+clip(e.ref))
			case !seen[id]:
				if seen == nil {
					seen = map[string]bool{}
				}
				seen[id] = true
				d.DependsOn = append(d.DependsOn, id)
			}
		}
	}
}

// find returns the external id of the issue that a text names.
func (r *Reader) find(ref string) (string, bool) {
	bare := strings.TrimPrefix(ref, "#")
	for _, id := range []string{ref, r.scoped(ref), bare, r.scoped(bare)} {
		if _, ok := r.byID[id]; ok {
			return id, true
		}
	}
	id := r.names[strings.ToLower(bare)]
	return id, id != ""
}

// Missing returns the numbers of issues on GitHub that others depend on and that were not read, in ascending order:
// lists of open issues leave out what is closed. Add them, or Done counts them as unknown.
func (r *Reader) Missing() []int {
	var out []int
	for i := range r.drafts {
		for _, e := range r.drafts[i].edges {
			if !strings.HasPrefix(e.ref, githubScheme) || r.gone[e.ref] != "" {
				continue
			}
			if _, ok := r.byID[e.ref]; ok {
				continue
			}
			if n, err := strconv.Atoi(e.ref[strings.LastIndexByte(e.ref, '#')+1:]); err == nil {
				out = append(out, n)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// The colours of a walk through the dependencies.
const (
	unseen uint8 = iota
	open         // on the way that is being walked
	closed       // everything that it leads to has been walked
)

// circles looks for dependencies that lead back to where they begin. Each one that closes a circle is a problem that
// shows the way, or, where the caller is content with that, is left out.
func (r *Reader) circles() {
	colour := make([]uint8, len(r.drafts))
	for i := range r.drafts {
		if colour[i] == unseen {
			r.walk(i, colour)
		}
	}
}

// walk follows the dependencies from one issue, without recursion, as chains may be as long as the backlog.
func (r *Reader) walk(from int, colour []uint8) {
	type step struct{ issue, next int }
	way := []step{{from, 0}}
	colour[from] = open
	for len(way) > 0 {
		at := &way[len(way)-1]
		d := &r.drafts[at.issue]
		if at.next == len(d.DependsOn) {
			colour[at.issue] = closed
			way = way[:len(way)-1]
			continue
		}
		to := r.byID[d.DependsOn[at.next]]
		switch colour[to] {
		case unseen:
			at.next++
			colour[to] = open
			way = append(way, step{to, 0})
		case closed:
			at.next++
		default:
			var names []string
			for k := slices.IndexFunc(way, func(s step) bool { return s.issue == to }); k < len(way); k++ {
				names = append(names, r.drafts[way[k].issue].name())
			}
			path := shown(append(names, r.drafts[to].name()))
			if r.opt.Loose {
				r.rep.note(d.file, d.Line, "backlog.note_circle", path)
				d.DependsOn = slices.Delete(d.DependsOn, at.next, at.next+1)
				continue
			}
			r.rep.problem(d.file, d.Line, "", "backlog.circle", path)
			at.next++
		}
	}
}

// shown writes a way through the dependencies; of a long one, its two ends.
func shown(names []string) string {
	const half = 6
	if len(names) > 2*half+1 {
		names = slices.Concat(names[:half], []string{"…"}, names[len(names)-half:])
	}
	return strings.Join(names, " → ")
}
