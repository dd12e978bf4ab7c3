package effect

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// Unkept is something in a person's own folder that an undo cannot bring back.
type Unkept struct {
	Path string `json:"path"`
	Size int64  `json:"size,omitempty"`
	Why  string `json:"why"`
	// How is the command that makes it anew, where one is known.
	How string `json:"how,omitempty"`
	// More counts further ones of the kind that are not named.
	More int `json:"more,omitempty"`
}

// The reasons for which something is not kept, or was not brought back.
const (
	UnkeptLarge      = "large"      // it does not fit into what may be copied
	UnkeptMany       = "many"       // there are more files than are copied
	UnkeptLocked     = "locked"     // a lock file decides it
	UnkeptNested     = "nested"     // a repository of its own
	UnkeptSpecial    = "special"    // a socket or a device
	UnkeptUnreadable = "unreadable" // pawl may not read it, or it changed while it was kept
	UnkeptChanged    = "changed"    // it changed since
	UnkeptGone       = "gone"       // what was kept is past its time
)

// IgnoredBack says what a restoration did beside what git records.
type IgnoredBack struct {
	// Kept names what was kept of the folder before the restoration.
	Kept string `json:"kept"`
	Back int    `json:"back"`
	// Lost is what was changed and could not be brought back.
	Lost []Unkept `json:"lost,omitempty"`
}

// Or names what the next undo or redo brings back from: what the last one kept before it began, or else name.
func (i *IgnoredBack) Or(name string) string {
	if i != nil {
		return i.Kept
	}
	return name
}

// mostNamed bounds what is named of one reason.
const mostNamed = 20

// Folded names the largest of each reason and counts the others.
func Folded(all []Unkept) []Unkept {
	slices.SortStableFunc(all, func(a, b Unkept) int {
		return cmp.Or(strings.Compare(a.Why, b.Why), cmp.Compare(b.Size, a.Size), strings.Compare(a.Path, b.Path))
	})
	var out []Unkept
	named := 0
	for i, u := range all {
		if i == 0 || all[i-1].Why != u.Why {
			named = 0
		}
		if named++; named <= mostNamed {
			out = append(out, u)
			continue
		}
		out[len(out)-1].More += 1 + u.More
	}
	return out
}

// Named names what is not kept in one line, with sizes.
func Named(all []Unkept) string {
	var out []string
	for _, u := range all {
		name := u.Path
		if u.Size > 0 {
			name += " (" + u.Amount() + ")"
		}
		if out = append(out, name); u.More > 0 {
			out = append(out, "+"+strconv.Itoa(u.More))
		}
	}
	return strings.Join(out, ", ")
}

// Amount is the size for people.
func (u Unkept) Amount() string {
	size, unit := float64(u.Size), ""
	for _, unit = range []string{"B", "kB", "MB", "GB"} {
		if size < 1000 {
			break
		}
		if unit != "GB" {
			size /= 1000
		}
	}
	return strings.TrimSuffix(strconv.FormatFloat(size, 'f', 1, 64), ".0") + " " + unit
}
