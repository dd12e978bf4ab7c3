package solution

import (
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"pawl/text/pattern"

	"pawl"
)

const (
	// MaxFeature is the length of the feature in a name that is made, in characters. It leaves room in the 255 bytes
	// that file systems allow for a name, in any script.
	MaxFeature = 48

	minuteForm = "200601021504"
	maxName    = 255
)

// Name is the name of a package: the minute in which it was made, in UTC, what it is about, and which of several of the
// same name it is, from 2; a package that is alone has the version 0 (docs/spec/workflow.md#package-name,
// docs/spec/workflow.md#c17).
type Name struct {
	Minute  time.Time
	Feature string
	Version int
}

// earliest is the first minute of which a name is made: a machine whose clock is older does not know the time.
var earliest = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// Feature makes the feature part of a name: letters and digits of ASCII and Chinese characters stay, in lower case, and
// whatever stands between them is one dash. A long text is cut at 48 characters. A text of which nothing stays is
// refused.
func Feature(of string) (string, error) {
	var b strings.Builder
	dash, n := false, 0
	for _, r := range of {
		switch {
		case 'A' <= r && r <= 'Z':
			r += 'a' - 'A'
		case 'a' <= r && r <= 'z', '0' <= r && r <= '9', 0x4e00 <= r && r <= 0x9fff:
		default:
			dash = n > 0
			continue
		}
		if dash {
			if n+2 > MaxFeature {
				break
			}
			b.WriteByte('-')
			dash = false
			n++
		}
		b.WriteRune(r)
		if n++; n == MaxFeature {
			break
		}
	}
	if n == 0 {
		return "", pawl.Fail(pawl.CodeInvalid, "solution.no_feature", Clip(of, 80)).In("solution.Feature")
	}
	return b.String(), nil
}

// NewName names a package for a text at a time: the name that Free finds. A time before 2000 or after 9999 is refused.
func NewName(of string, now time.Time, exists func(name string) bool) (Name, error) {
	feature, err := Feature(of)
	if err != nil {
		return Name{}, err
	}
	now = now.UTC().Truncate(time.Minute)
	if now.Before(earliest) || now.Year() > 9999 {
		return Name{}, pawl.Fail(pawl.CodeEnvironment, "solution.clock",
			now.Format(time.RFC3339)).In("solution.NewName")
	}
	return Name{Minute: now, Feature: feature}.Free(exists), nil
}

// Free returns the name if exists does not know it, and otherwise a later version that exists does not know: the next
// one if versions were taken in order. exists may read a store, so Free calls it a logarithmic number of times. If
// exists knows every name, the answer is a version that no package has.
func (n Name) Free(exists func(name string) bool) Name {
	if !exists(n.String()) {
		return n
	}
	taken := func(version int) bool {
		n.Version = version
		return exists(n.String())
	}
	low := max(n.Version, 1)
	high := low + 1
	for high < 1<<30 && taken(high) {
		low, high = high, 2*high
	}
	n.Version = low + 1 + sort.Search(high-low-1, func(i int) bool { return !taken(low + 1 + i) })
	return n
}

var (
	nameForm    = pattern.New(`^(\d{12})_(.+)$`)
	versionForm = pattern.New(`^(.+)_v([1-9]\d{0,5})$`)
)

// ParseName reads a name. Names that others made may have any feature that is one name of a file and hides nothing; the
// minute must be one that the calendar has.
func ParseName(s string) (Name, error) {
	m := nameForm.Get().FindStringSubmatch(s)
	if m == nil || len(s) > maxName || !utf8.ValidString(s) || strings.ContainsAny(s, `/\`) ||
		strings.ContainsFunc(s, Concealed) {
		return Name{}, pawl.Fail(pawl.CodeInvalid, "solution.bad_name", Clip(s, 80)).In("solution.ParseName")
	}
	at, err := time.Parse(minuteForm, m[1])
	if err != nil {
		return Name{}, pawl.Fail(pawl.CodeInvalid, "solution.bad_minute", Clip(s, 80), m[1]).In("solution.ParseName")
	}
	n := Name{Minute: at, Feature: m[2]}
	if v := versionForm.Get().FindStringSubmatch(m[2]); v != nil {
		if i, err := strconv.Atoi(v[2]); err == nil && i > 1 {
			n.Feature, n.Version = v[1], i
		}
	}
	return n, nil
}

// String returns the name of the folder.
func (n Name) String() string {
	s := n.Stamp() + "_" + n.Feature
	if n.Version > 1 {
		s += "_v" + strconv.Itoa(n.Version)
	}
	return s
}

// Stamp returns the minute as the name says it.
func (n Name) Stamp() string { return n.Minute.UTC().Format(minuteForm) }

// Pick finds the package that is meant among the names of the folders in plan/ (docs/spec/workflow.md#develop, step 1).
// want is a name, a feature, or the beginning of either; with "" the only package there is is meant. No package is
// CodeNotFound, naming the nearest where one was named, and several are CodeUsage, naming them. Folders that are no
// packages do not count.
func Pick(names []string, want string) (string, error) {
	var all, fits, features []string
	for _, name := range slices.Sorted(slices.Values(names)) {
		n, err := ParseName(name)
		if err != nil {
			continue
		}
		all = append(all, name)
		features = append(features, n.Feature)
		switch {
		case want == name:
			return name, nil
		case want == "", strings.HasPrefix(name, want), strings.HasPrefix(n.Feature, want):
			fits = append(fits, name)
		}
	}
	switch {
	case len(all) == 0:
		return "", pawl.Fail(pawl.CodeNotFound, "solution.no_package").In("solution.Pick")
	case len(fits) == 1:
		return fits[0], nil
	case len(fits) > 1:
		return "", pawl.Fail(pawl.CodeUsage, "solution.many_packages", len(fits), someOf(fits)).In("solution.Pick")
	}
	if near := pawl.Suggest(want, append(features, all...)); near != "" {
		return "", pawl.Fail(pawl.CodeNotFound, "solution.no_such_near", Clip(want, 80), near).In("solution.Pick")
	}
	return "", pawl.Fail(pawl.CodeNotFound, "solution.no_such", Clip(want, 80), someOf(all)).In("solution.Pick")
}

// someOf lists names for a message, the last ones, which are the youngest.
func someOf(names []string) string {
	if len(names) > 5 {
		return "…, " + strings.Join(names[len(names)-5:], ", ")
	}
	return strings.Join(names, ", ")
}
