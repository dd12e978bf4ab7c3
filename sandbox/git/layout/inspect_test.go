package layout_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pawl/internal/gittest"
	"pawl/sandbox/git/layout"
	"pawl/text/policy"
)

// TestInspectFindsWhatARepositoryCouldRun makes git's own files say what would run, each in another place.
func TestInspectFindsWhatARepositoryCouldRun(t *testing.T) {
	t.Parallel()
	file := func(path, text string, mode os.FileMode) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		make func(r *gittest.Repo)
		want string // a part of the one hazard, "" for none
	}{
		"nothing": {func(*gittest.Repo) {}, ""},
		"what people have": {func(r *gittest.Repo) {
			r.Git("remote", "add", "origin", "https://example.org/x.git")
			r.Git("config", "commit.gpgsign", "true")
			r.Git("config", "core.editor", "vim")
			r.Git("config", "credential.helper", "store")
			r.Git("config", "merge.tool", "meld")
		}, ""},
		"monitor": {func(r *gittest.Repo) { r.Git("config", "core.fsmonitor", "./watch.sh") },
			"core.fsmonitor = ./watch.sh"},
		"conversion": {func(r *gittest.Repo) { r.Git("config", "diff.pdf.textconv", "pdftotext") },
			"diff.textconv = pdftotext"},
		"filter": {func(r *gittest.Repo) { r.Git("config", "filter.z.clean", "rinse") }, "filter.clean = rinse"},
		"differ": {func(r *gittest.Repo) { r.Git("config", "diff.external", "show.sh") },
			"diff.external = show.sh"},
		"inclusion": {func(r *gittest.Repo) { r.Git("config", "include.path", "../extra") },
			"include.path = ../extra"},
		"hooks that no read runs": {func(r *gittest.Repo) {
			r.Git("config", "core.hooksPath", ".husky/_")
			file(filepath.Join(r.Dir, ".husky/_/pre-commit"), "#!/bin/sh\n", 0o755)
		}, ""},
		"hook that a read runs": {func(r *gittest.Repo) {
			r.Git("config", "core.hooksPath", ".husky/_")
			file(filepath.Join(r.Dir, ".husky/_/post-index-change"), "#!/bin/sh\n", 0o755)
		}, "hook post-index-change"},
		"hook in its usual place": {func(r *gittest.Repo) {
			file(filepath.Join(r.Dir, ".git/hooks/post-index-change"), "#!/bin/sh\n", 0o755)
		}, "hook post-index-change"},
		"hook that cannot be run": {func(r *gittest.Repo) {
			file(filepath.Join(r.Dir, ".git/hooks/post-index-change"), "#!/bin/sh\n", 0o644)
		}, ""},
		"hooks nobody knows where": {func(r *gittest.Repo) { r.Git("config", "core.hooksPath", "~/hooks") },
			"core.hookspath = ~/hooks"},
		"submodule": {func(r *gittest.Repo) { submodule(t, r, ".git/modules/part") },
			"core.fsmonitor = ./in-part.sh"},
		"submodule that keeps itself": {func(r *gittest.Repo) {
			submodule(t, r, "part/.git")
			file(filepath.Join(r.Dir, ".gitmodules"), "[submodule \"part\"]\n\tpath = part\n\turl = ./x\n", 0o644)
		}, "core.fsmonitor = ./in-part.sh"},
	} {
		r := gittest.New(t, map[string]string{"a": "a\n"})
		c.make(r)
		got := layout.InspectWith(filepath.Join(r.Dir), nil)
		found := strings.Join(got.Hazards, "; ")
		if !got.Inspected || c.want == "" && found != "" || !strings.Contains(found, c.want) {
			t.Errorf("%s: %+v, want %q", name, got, c.want)
		}
	}
}

func submodule(t *testing.T, r *gittest.Repo, dir string) {
	t.Helper()
	r.Git("init", "-q", "--bare", dir)
	r.Git("--git-dir", dir, "config", "core.fsmonitor", "./in-part.sh")
	r.Git("--git-dir", dir, "config", "core.worktree", "../../../part")
}

func TestInspectBesideARepository(t *testing.T) {
	t.Parallel()
	if got := layout.InspectWith(t.TempDir(), nil); !got.Inspected && !insideGit(t) {
		t.Errorf("no repository: %+v", got)
	}
	r := gittest.New(t, map[string]string{"a/b": "b\n"})
	r.Git("config", "core.fsmonitor", "./watch.sh")
	if got := layout.InspectWith(filepath.Join(r.Dir, "a"), nil); len(got.Hazards) != 1 {
		t.Errorf("a folder of it: %+v", got)
	}
	side := filepath.Join(t.TempDir(), "side")
	r.Git("worktree", "add", "-q", side)
	if got := layout.InspectWith(side, nil); len(got.Hazards) != 1 {
		t.Errorf("another worktree: %+v", got)
	}
	bare := filepath.Join(t.TempDir(), "bare")
	r.Git("clone", "-q", "--bare", r.Dir, bare)
	if got := layout.InspectWith(bare, nil); got.Inspected {
		t.Errorf("a bare repository: %+v", got)
	}
	system := filepath.Join(t.TempDir(), "gitconfig")
	if err := os.WriteFile(system, []byte("[diff]\n\texternal = all.sh\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	plain := gittest.New(t, map[string]string{"a": "a\n"})
	if got := layout.InspectWith(plain.Dir, []string{system}); len(got.Hazards) != 1 {
		t.Errorf("the system's configuration: %+v", got)
	}
	// What cannot be read counts as not inspected, and then policy asks.
	if err := os.WriteFile(filepath.Join(plain.Dir, ".git", "config"), []byte(strings.Repeat("# long\n", (1<<20)/4)),
		0o644); err != nil {
		t.Fatal(err)
	}
	got := layout.InspectWith(plain.Dir, nil)
	if v := policy.Judge(policy.Request{Command: "git status", Repo: got}, policy.Standard()); got.Inspected ||
		v.Decision != policy.Ask {
		t.Errorf("a file that is too long: %+v", got)
	}
}

// insideGit reports whether the temporary folder itself lies in a repository.
func insideGit(t *testing.T) bool {
	_, ok := layout.Top(t.TempDir())
	return ok
}
