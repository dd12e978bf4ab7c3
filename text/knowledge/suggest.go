package knowledge

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"pawl"
)

// ChangeKind is what happened to a file.
type ChangeKind string

// The kinds of changes.
const (
	FileAdded    ChangeKind = "added"
	FileModified ChangeKind = "modified"
	FileDeleted  ChangeKind = "deleted"
	FileRenamed  ChangeKind = "renamed"
)

// Change is a file that a commit would change. Path has slashes and is the new one of a file that was renamed.
type Change struct {
	Path string
	Kind ChangeKind
}

// SuggestCommit proposes a message for changes from their paths alone; first says that the repository has no commit
// yet. It knows what kind of files changed, not why: a person or an agent who knows better gives the type and the
// summary. The proposal keeps every rule of Compose. The error without changes is CodeNotFound.
func SuggestCommit(changes []Change, first bool) (Commit, error) {
	if len(changes) == 0 {
		return Commit{}, pawl.Fail(pawl.CodeNotFound, "knowledge.commit_nothing").In("knowledge.SuggestCommit")
	}
	c := Commit{Type: typeOf(changes, first), Scope: scopeOf(changes)}
	verb := verbs[FileModified]
	if k := changes[0].Kind; !slices.ContainsFunc(changes, func(c Change) bool { return c.Kind != k }) {
		if v, ok := verbs[k]; ok {
			verb = v
		}
	}
	zh, en := fmt.Sprintf("%d 个文件", len(changes)), fmt.Sprintf("%d files", len(changes))
	if len(changes) == 1 {
		zh, en = "1 个文件", "1 file"
		if name := trimSummary(path.Base(changes[0].Path)); utf8.RuneCountInString(name) <= MaxSummary-10 &&
			name != "" {
			zh, en = name, name
		}
	}
	c.Local.Summary, c.English.Summary = verb.zh+" "+zh, verb.en+" "+en
	if first {
		c.Local.Summary, c.English.Summary = "初始化项目", "set up the project"
	}
	return c, nil
}

var verbs = map[ChangeKind]word{
	FileAdded: {"添加", "add", nil}, FileModified: {"更新", "update", nil}, FileDeleted: {"删除", "remove",
		nil}, FileRenamed: {"重命名", "rename", nil},
}

// classes are kinds of files that make the type of a commit when nothing else changed, in the order in which they are
// tried: a workflow of the CI in YAML is CI and no document.
var classes = []struct {
	kind CommitType
	fits func(p, base string) bool
}{
	{CommitCI, func(p, base string) bool {
		return strings.HasPrefix(p, ".github/workflows/") || strings.HasPrefix(p, ".circleci/") ||
			slices.Contains([]string{".gitlab-ci.yml", "jenkinsfile", ".travis.yml", "azure-pipelines.yml"}, base)
	}},
	{CommitTest, func(p, base string) bool {
		stem := strings.TrimSuffix(base, path.Ext(base))
		return strings.HasSuffix(stem, "_test") || strings.HasSuffix(stem, ".test") ||
			strings.HasSuffix(stem, ".spec") || strings.HasPrefix(base, "test_") ||
			slices.ContainsFunc(strings.Split(path.Dir(p), "/"),
				func(d string) bool { return slices.Contains([]string{"test", "tests", "testdata", "__tests__"}, d) })
	}},
	{CommitBuild, func(_, base string) bool {
		return slices.Contains([]string{"go.mod", "go.sum", "package.json", "package-lock.json", "pnpm-lock.yaml",
			"yarn.lock", "cargo.toml", "cargo.lock",
			"makefile", "dockerfile", "cmakelists.txt", "pom.xml", "build.gradle", "pyproject.toml", "requirements.txt",
			"poetry.lock", "uv.lock"}, base)
	}},
	{CommitDocs, func(p, base string) bool {
		return strings.HasPrefix(p, "docs/") || base == "license" ||
			slices.Contains([]string{".md", ".rst", ".adoc", ".txt"}, path.Ext(base))
	}},
}

func typeOf(changes []Change, first bool) CommitType {
	if first {
		return CommitInit
	}
	found := CommitType("")
	for _, c := range changes {
		p := strings.ToLower(c.Path)
		kind := CommitType("")
		for _, k := range classes {
			if k.fits(p, path.Base(p)) {
				kind = k.kind
				break
			}
		}
		if kind == "" {
			if slices.ContainsFunc(changes, func(c Change) bool { return c.Kind == FileAdded }) {
				return CommitFeat
			}
			return CommitChore
		}
		if found != "" && found != kind {
			found = CommitChore
			continue
		}
		found = kind
	}
	return found
}

// scopeOf returns the folder at the top that all changes share, where it makes a scope.
func scopeOf(changes []Change) string {
	scope := ""
	for i, c := range changes {
		top, _, ok := strings.Cut(c.Path, "/")
		if !ok || i > 0 && top != scope {
			return ""
		}
		scope = top
	}
	if !scopeForm.Get().MatchString(scope) || utf8.RuneCountInString(scope) > MaxScope {
		return ""
	}
	return scope
}
