package policy

import (
	"crypto/sha256"
	"encoding/hex"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"pawl/text/display"
	"pawl/text/shell"
)

// Entry is one path of a change from one tree to another, as the tree that is left says it.
type Entry struct {
	Path string
	// Mode is git's, such as 100644, and "" where nothing is left at the path.
	Mode string
	// New says that there was nothing at the path, and that its content stood nowhere else before.
	New bool
	// Digest is the id of the content, "" where there is none.
	Digest string
	Size   int64
	// Target is where a symbolic link leads.
	Target string
	// Head says that the content is what a file says by which git knows a repository.
	Head bool
	// Secrets are those that the content holds and that it did not hold before, each with its line and masked. Marked
	// says the same of the marks that stand in the place of secrets which were taken out.
	Secrets []Sighting
	Marked  bool
}

// Sighting is a secret in a file.
type Sighting struct {
	Line  int
	Shown string
}

// Found is what the policy has against one path of a change. It is about exactly the content with that digest.
type Found struct {
	Path     string   `json:"path"`
	Decision Decision `json:"decision"`
	Reason
	Digest string `json:"digest,omitempty"`
	// Person says that no plan covers it: who approves a plan has not seen it.
	Person bool `json:"person,omitempty"`
}

const (
	maxFound  = 1000
	largeFile = 10 << 20 // bytes from which a file is asked about
	someLines = 5        // secrets of a file that are named
)

// The modes of git that mean something of their own.
const (
	modeLink   = "120000"
	modeNested = "160000"
)

// Added are new files, where they are more than pass without a question.
type Added struct {
	Files []string `json:"files"` // the first of them
	Count int      `json:"count"`
	Most  int      `json:"most"` // how many pass
	// Digest stands for all of them and for what they say.
	Digest string `json:"digest"`
}

// maxAdded bounds the names that are kept of new files.
const maxAdded = 2000

// Except is what the policy has against the new files that expected does not know, nil for nothing.
func (a *Added) Except(expected func(string) bool) *Found {
	if a == nil {
		return nil
	}
	left := slices.DeleteFunc(slices.Clone(a.Files), expected)
	n := a.Count - len(a.Files) + len(left)
	if n <= a.Most || len(left) == 0 {
		return nil
	}
	return &Found{Path: few(left), Decision: Ask, Digest: a.Digest,
		Reason: because(CodeManyFiles, strconv.Itoa(n), strconv.Itoa(a.Most))}
}

// few names the first of many files.
func few(files []string) string {
	if len(files) <= someLines {
		return strings.Join(files, ", ")
	}
	return strings.Join(files[:someLines], ", ") + ", …"
}

// JudgeTree judges what a work has left behind, whoever wrote it, by the same rules as the calls of tools: what is
// denied may not land, and what is asked about may once a person has seen it. Denials come first. Which of many new
// files were expected is known to others (Added.Except).
func JudgeTree(change []Entry, p Profile) (found []Found, added *Added) {
	many, sum := Added{Most: p.maxFiles()}, sha256.New()
	for _, e := range change {
		if e.New {
			if many.Count++; many.Count <= maxAdded {
				many.Files = append(many.Files, e.Path)
			}
			sum.Write([]byte(e.Path + "\x00" + e.Mode + "\x00" + e.Digest + "\n"))
		}
		found = append(found, judgeEntry(e, p)...)
	}
	slices.SortStableFunc(found, func(a, b Found) int { return rank(a.Decision) - rank(b.Decision) })
	if n := len(found); n > maxFound {
		found = append(found[:maxFound:maxFound], Found{Path: found[maxFound].Path, Decision: Deny,
			Reason: because(CodeTooComplex, strconv.Itoa(n))})
	}
	if many.Count > many.Most {
		many.Digest = hex.EncodeToString(sum.Sum(nil))
		added = &many
	}
	return found, added
}

func rank(d Decision) int { return slices.Index([]Decision{Deny, Ask}, d) }

func because(code Code, args ...string) Reason {
	for i, a := range args {
		args[i] = shell.Shorten(display.Line(a))
	}
	return Reason{code, "policy." + string(code), args}
}

// judgeEntry judges one path of a change.
func judgeEntry(e Entry, p Profile) (found []Found) {
	find := func(d Decision, code Code, args ...string) {
		found = append(found, Found{Path: e.Path, Decision: d, Reason: because(code, args...), Digest: e.Digest,
			Person: code == CodeSecretText || code == CodeSecretMark})
	}
	op := OpWrite
	if e.Mode == "" {
		op = OpDelete
	}
	d, code := Deny, CodePathForm
	if legible(e.Path) {
		d, code = classify(e.Path, op, false, p.Sensitive)
	}
	switch {
	case d != Allow:
		find(d, code, e.Path)
	case p.ReadOnly:
		find(Deny, CodeReadOnly, e.Path)
	}
	if e.Mode == "" || d == Deny {
		return found
	}
	head := slices.Equal(fold(path.Base(e.Path)), []string{"head"})
	switch {
	case e.Mode == modeNested, head && (e.Head || e.Mode == modeLink):
		find(Deny, CodeRepository, e.Path)
	case e.Mode == modeLink:
		if to, ok := linked(e.Path, e.Target); !ok {
			find(Deny, CodePathEscape, e.Path+" -> "+e.Target)
		} else if d, code := classify(to, OpWrite, false, p.Sensitive); d != Allow {
			find(d, code, e.Path+" -> "+e.Target)
		}
	case e.Size > largeFile:
		find(Ask, CodeLargeFile, e.Path, strconv.FormatInt(e.Size>>20, 10))
	}
	if e.Marked {
		find(Ask, CodeSecretMark, e.Path)
	}
	if len(e.Secrets) > 0 && !p.allowsSecrets(e.Path) {
		find(Ask, CodeSecretText, e.Path, sightings(e.Secrets))
	}
	return found
}

// legible reports whether the name of a file can be told and shown as it is.
func legible(rel string) bool {
	return utf8.ValidString(rel) && len(rel) <= maxPath && !strings.ContainsFunc(rel, func(r rune) bool {
		return unicode.IsControl(r) || r != ' ' && shell.Hidden(r)
	}) && !slices.Contains(fold(rel), "..")
}

// linked is where a link leads, relative to the tree. It is false where that is outside, or where it cannot be told: a
// way up behind a name goes up from wherever that leads.
func linked(at, target string) (to string, inside bool) {
	drive := len(target) > 1 && target[1] == ':'
	if target == "" || target[0] == '/' || drive || strings.ContainsAny(target, "\\\x00") {
		return "", false
	}
	named := false
	for part := range strings.SplitSeq(target, "/") {
		if part == ".." && named {
			return "", false
		}
		named = named || part != "" && part != "." && part != ".."
	}
	to = path.Join(path.Dir(at), target)
	return to, to != ".." && !strings.HasPrefix(to, "../")
}

// allowsSecrets reports whether secrets in a file are not asked about.
func (p Profile) allowsSecrets(rel string) bool {
	return slices.ContainsFunc(p.AllowedSecrets, func(allowed string) bool {
		return rel == allowed || strings.HasPrefix(rel, allowed+"/")
	})
}

// sightings names the first of the secrets of a file.
func sightings(all []Sighting) string {
	var out []string
	for i, s := range all {
		if i == someLines {
			out = append(out, "…")
			break
		}
		out = append(out, strconv.Itoa(s.Line)+": "+s.Shown)
	}
	return strings.Join(out, ", ")
}

// IsSecret reports whether a file is known to hold credentials by its path, so that it is not read.
func IsSecret(rel string) bool { return isSecret(fold(rel)) }
