package filter_test

import (
	"os"
	"strings"
	"testing"

	"pawl/internal/gittest"
	"pawl/sandbox/git"
	"pawl/sandbox/git/filter"
	"pawl/sandbox/git/layout"
	"pawl/text/policy"
)

func TestMain(m *testing.M) { os.Exit(gittest.Isolate(m, nil)) }

func snapshot(t *testing.T, r *git.Repo) string {
	t.Helper()
	tree, err := r.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// filters are ways to send a file called conf/secret or x.bin through a filter, and what Changed answers.
var filters = map[string]struct {
	base, work map[string]string
	prepare    func(r *gittest.Repo)
	want       string
}{
	"in the repository": {base: map[string]string{".gitattributes": "conf/** filter=crypt\n"},
		work: map[string]string{"conf/secret": "plain"}, want: "conf/secret (crypt)"},
	"without a configured filter": {base: map[string]string{".gitattributes": "conf/* filter=unknown\n"},
		work: map[string]string{"conf/secret": "plain"}, want: "conf/secret (unknown)"},
	"by a macro": {base: map[string]string{".gitattributes": "[attr]sealed filter=crypt diff\nconf/* sealed\n"},
		work: map[string]string{"conf/secret": "plain"}, want: "conf/secret (crypt)"},
	"added by the work in a sub-directory": {
		work: map[string]string{"conf/.gitattributes": "secret filter=crypt\n", "conf/secret": "plain"},
		want: "conf/secret (crypt)"},
	"taken away by the work": {base: map[string]string{"conf/.gitattributes": "secret filter=crypt\n"},
		work: map[string]string{"conf/.gitattributes": "other text\n", "conf/secret": "plain"},
		want: "conf/secret (crypt)"},
	"in info/attributes": {work: map[string]string{"conf/secret": "plain"}, want: "conf/secret (crypt)",
		prepare: func(r *gittest.Repo) { r.Write(map[string]string{".git/info/attributes": "secret filter=crypt\n"}) }},
	"in the user's attributes": {work: map[string]string{"conf/secret": "plain"}, want: "conf/secret (crypt)",
		prepare: func(r *gittest.Repo) {
			r.Write(map[string]string{".git/mine": "/conf/secret filter=crypt\n"})
			r.Git("config", "core.attributesFile", r.Path(".git/mine"))
		}},
	"unset again": {base: map[string]string{".gitattributes": "* filter=crypt\nconf/* -filter\n.gitattributes !filter\n"},
		work: map[string]string{"conf/secret": "plain"}},
	"removed": {base: map[string]string{".gitattributes": "old filter=crypt\n"}, work: map[string]string{"old": ""}},
	"a large file": {base: map[string]string{".gitattributes": "*.bin filter=lfs\n"},
		work: map[string]string{"x.bin": "large"}, want: "x.bin (lfs)"},
	"a pointer to a large file": {base: map[string]string{".gitattributes": "*.bin filter=lfs\n"},
		work: map[string]string{"x.bin": "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n"}},
}

// Wherever a filter is named, the files that git would send through it are found, and no filter runs.
func TestFiltered(t *testing.T) {
	t.Parallel()
	for name, c := range filters {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			base := map[string]string{"a": "a\n", "old": "o\n"}
			for path, text := range c.base {
				base[path] = text
			}
			r := gittest.New(t, base)
			r.Git("config", "filter.crypt.clean", "touch "+r.Path("ran"))
			r.Git("config", "filter.crypt.required", "true")
			if c.prepare != nil {
				c.prepare(r)
			}
			w, err := git.Open(t.Context(), layout.Place{Workspace: r.Dir, Tree: r.Path(".pawl/worktrees/t"), Git: true})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := w.AddWorktree(t.Context(), r.Head()); err != nil {
				t.Fatal(err)
			}
			from := snapshot(t, w)
			gittest.Write(t, r.Path(".pawl/worktrees/t"), c.work)
			if name == "removed" {
				_ = os.Remove(r.Path(".pawl/worktrees/t/old"))
			}
			found, err := filter.Changed(t.Context(), w, from, snapshot(t, w))
			if got := strings.Join(found, ", "); err != nil || got != c.want {
				t.Errorf("%q, %v, want %q", got, err, c.want)
			}
			if layout.Exists(r.Path("ran")) {
				t.Error("the filter ran")
			}
		})
	}
}

// TestInspectFilters compares the filters that Inspect reads before the work with what git says of every path.
func TestInspectFilters(t *testing.T) {
	t.Parallel()
	r := gittest.New(t, map[string]string{
		".gitattributes": "[attr]sealed filter=sealed\n# *.c filter=no\n*.md filter=a text\nd/** filter=b\n/top filter=c\n" +
			"\"with space\" filter=d\n*.x filter\nq/*.md -filter\ne/f sealed\n\t*.y\tfilter=e \nd/open !filter\ndir/ filter=no\n!no filter=no\n",
		"d/.gitattributes": "*.md !filter\nsub/* filter=f\n", "d/sub/.gitattributes": "special filter=g\n", "z": "z"})
	r.Write(map[string]string{".git/info/attributes": "*.info filter=h\nd/*.md filter=i\n"})
	repo := layout.Inspect(r.Dir)
	for path := range strings.FieldsSeq("a.md x/a.md q/a.md q/r/a.md d/a d/a.md d/sub/a.md d/sub/special d/open d/x/open " +
		"top x/top with\u00a0space a.x a.c e/f e/g b.y x.info d/x.info dir/a no z .gitattributes") {
		path = strings.ReplaceAll(path, "\u00a0", " ")
		_, value, _ := strings.Cut(r.Git("check-attr", "filter", "--", path), "filter: ")
		if value == "unspecified" || value == "unset" || value == "set" {
			value = ""
		}
		if got := repo.FilterOf(path); got != value {
			t.Errorf("%s: %q, git says %q", path, got, value)
		}
	}
	if len(repo.Filters) == 0 || layout.Inspect(t.TempDir()).Filters != nil {
		t.Error(repo.Filters)
	}
	write := func(own bool) policy.Decision {
		return policy.Judge(policy.Request{Tool: "write_file", Permissions: []policy.Permission{policy.FSWrite}, Repo: repo,
			Paths: []policy.Path{{Rel: "d/a", Op: policy.OpWrite}}, Ground: policy.Ground{Own: own}}, policy.Standard()).Decision
	}
	if write(true) != policy.Deny || write(false) != policy.Ask {
		t.Error(write(true), write(false))
	}
}
