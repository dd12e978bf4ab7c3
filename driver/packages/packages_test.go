package packages_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"pawl"
	"pawl/driver/drivertest"
	"pawl/driver/packages"
	"pawl/kernel/effect"
)

const name = "202602081200_login"

func place(t *testing.T, files map[string]string) effect.Place {
	t.Helper()
	dir := t.TempDir()
	drivertest.Populate(t, dir, map[string]string{".pawl/": ""})
	drivertest.Populate(t, dir, files)
	return effect.Place{Workspace: dir, Tree: dir}
}

func read(t *testing.T, p effect.Place, rel string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(p.Workspace, ".pawl", rel))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return string(raw)
}

func making(p effect.Place, name string) effect.Effect {
	return effect.Effect{ID: "01E", Kind: effect.KindPackage, Place: p,
		Spec: effect.Encode(effect.PackageSpec{Name: name,
			Files: map[string]string{"proposal.md": "P", "tasks.md": "T"}})}
}

func TestMake(t *testing.T) {
	p := place(t, nil)
	d, e := packages.NewMake(), making(p, name)
	ctx := context.Background()
	if a, _ := d.Done(ctx, e); a != effect.DoneNo {
		t.Errorf("before: %s", a)
	}
	for range 2 {
		if r := d.Do(ctx, e, nil); !r.OK {
			t.Fatal(r.Err())
		}
	}
	if a, r := d.Done(ctx, e); a != effect.DoneYes || !r.OK {
		t.Errorf("after: %s", a)
	}
	if read(t, p, "plan/"+name+"/proposal.md") != "P" || read(t, p, "plan/"+name+"/tasks.md") != "T" {
		t.Error("the documents are not there")
	}
}

func TestMakeAfterAHalf(t *testing.T) {
	p := place(t, map[string]string{".pawl/plan/.making-01E/proposal.md": "ha", ".pawl/plan/.making-01E/stray.md": "x"})
	d, e := packages.NewMake(), making(p, name)
	if a, _ := d.Done(context.Background(), e); a != effect.DoneNo {
		t.Fatalf("a half counts as done: %s", a)
	}
	if r := d.Do(context.Background(), e, nil); !r.OK {
		t.Fatal(r.Err())
	}
	if read(t, p, "plan/"+name+"/proposal.md") != "P" || read(t, p, "plan/"+name+"/stray.md") != "" {
		t.Error("the half was taken over")
	}
}

func TestMakeRefuses(t *testing.T) {
	taken := place(t, map[string]string{".pawl/plan/" + name + "/proposal.md": "another"})
	for what, c := range map[string]struct {
		e    effect.Effect
		code pawl.Code
	}{
		"a name that is taken": {making(taken, name), pawl.CodeConflict},
		"no name":              {making(place(t, nil), "../evil"), pawl.CodeInvalid},
	} {
		if r := packages.NewMake().Do(context.Background(), c.e, nil); r.Code != c.code {
			t.Errorf("%s: %v", what, r.Err())
		}
	}
	if read(t, taken, "plan/"+name+"/proposal.md") != "another" {
		t.Error("a package was written over")
	}
}

// retirement is a package on its way into the archive.
func retirement(p effect.Place) effect.Effect {
	return effect.Effect{ID: "02E", Kind: effect.KindRetire, Place: p, Spec: effect.Encode(effect.RetireSpec{
		Packages: []effect.Retired{{
			From: "plan/" + name, To: "archive/2026-02/" + name, Tasks: effect.NewDocument("plan/"+name+"/tasks.md",
				"closed", []byte("open"), true),
		}, {From: "plan/202602081201_b", To: "archive/2026-02/202602081201_b"}},
		Index: effect.NewDocument("archive/_index.md", "index", nil, false),
	})}
}

var before = map[string]string{".pawl/plan/" + name + "/tasks.md": "open", ".pawl/plan/" + name + "/proposal.md": "P",
	".pawl/plan/202602081201_b/x.md": "b"}

// Whatever a crash left of it, doing it again ends in the same state.
func TestRetireFromEveryHalf(t *testing.T) {
	want := map[string]string{"archive/2026-02/" + name + "/tasks.md": "closed", "archive/2026-02/" + name +
		"/proposal.md": "P", "archive/2026-02/202602081201_b/x.md": "b", "archive/_index.md": "index"}
	halves := map[string]map[string]string{
		"nothing": before,
		"tasks": {".pawl/plan/" + name + "/tasks.md": "closed", ".pawl/plan/" + name + "/proposal.md": "P",
			".pawl/plan/202602081201_b/x.md": "b"},
		"one": {".pawl/archive/2026-02/" + name + "/tasks.md": "closed", ".pawl/archive/2026-02/" + name +
			"/proposal.md": "P", ".pawl/plan/202602081201_b/x.md": "b"},
		"both": {".pawl/archive/2026-02/" + name + "/tasks.md": "closed", ".pawl/archive/2026-02/" + name +
			"/proposal.md": "P", ".pawl/archive/2026-02/202602081201_b/x.md": "b"},
	}
	for what, files := range halves {
		t.Run(what, func(t *testing.T) {
			p := place(t, files)
			d, e := packages.NewRetire(), retirement(p)
			if a, _ := d.Done(t.Context(), e); a != effect.DoneNo {
				t.Fatalf("%s counts as done", a)
			}
			for range 2 {
				if r := d.Do(t.Context(), e, nil); !r.OK {
					t.Fatal(r.Err())
				}
			}
			if a, r := d.Done(t.Context(), e); a != effect.DoneYes || !r.OK {
				t.Errorf("Done says %s", a)
			}
			for rel, content := range want {
				if got := read(t, p, rel); got != content {
					t.Errorf("%s: %q, want %q", rel, got, content)
				}
			}
		})
	}
}

func TestRetireRefusesBeforeItMoves(t *testing.T) {
	for what, c := range map[string]struct {
		change map[string]string
		code   pawl.Code
	}{
		"tasks that changed": {map[string]string{".pawl/plan/" + name + "/tasks.md": "mine"}, pawl.CodeConflict},
		"an index that came": {map[string]string{".pawl/archive/_index.md": "mine"}, pawl.CodeConflict},
		"a place that is taken": {map[string]string{".pawl/archive/2026-02/202602081201_b/y.md": "mine"},
			pawl.CodeConflict},
		"a package that is a link": {nil, pawl.CodeDenied},
	} {
		t.Run(what, func(t *testing.T) {
			p := place(t, before)
			drivertest.Populate(t, p.Workspace, c.change)
			if c.change == nil {
				link := filepath.Join(p.Workspace, ".pawl/plan/202602081201_b")
				if err := os.RemoveAll(link); err != nil {
					t.Fatal(err)
				}
				if err := os.Symlink(t.TempDir(), link); err != nil {
					t.Fatal(err)
				}
			}
			r := packages.NewRetire().Do(t.Context(), retirement(p), nil)
			if r.Code != c.code {
				t.Fatalf("%v", r.Err())
			}
			for rel, content := range c.change {
				if got, _ := os.ReadFile(filepath.Join(p.Workspace, rel)); string(got) != content {
					t.Errorf("%s was written over: %q", rel, got)
				}
			}
			if c.change != nil && read(t, p, "plan/"+name+"/proposal.md") != "P" {
				t.Error("a package was moved all the same")
			}
		})
	}
}

func TestArchiveSaysWhatIsTaken(t *testing.T) {
	p := place(t, map[string]string{
		".pawl/archive/_index.md": "index", ".pawl/archive/2026-02/202602081201_b/tasks.md": "T",
		".pawl/archive/2026-02/loose.md":   "L",
		".pawl/plan/" + name + "/tasks.md": "T",
	})
	index, had, exists, err := packages.Archive(p.Workspace)
	if err != nil || !had || string(index) != "index" {
		t.Fatalf("%q %t: %v", index, had, err)
	}
	for dir, want := range map[string]bool{
		"archive/2026-02/202602081201_b": true, "archive/2026-02/loose.md": true, "plan/" + name: true,
		"archive/2026-02/" + name: false, "archive/2026-03/202602081201_b": false,
	} {
		if exists(dir) != want {
			t.Errorf("%s: %t", dir, !want)
		}
	}
	// An odd name that a repository brings is no place of a package, and keeps nobody from the rest.
	drivertest.Populate(t, p.Workspace, map[string]string{`.pawl/archive/2026\03/202602081201_b/tasks.md`: "T",
		`.pawl/plan/od\d/tasks.md`: "T"})
	if _, _, exists, err := packages.Archive(p.Workspace); err != nil || !exists("plan/"+name) {
		t.Errorf("an odd name in the archive: %v", err)
	}
	if names, files, err := packages.Look(t.Context(), p.Workspace); err != nil || len(names) != 1 ||
		len(files[name]) != 1 {
		t.Errorf("an odd name among the packages: %v %v", names, err)
	}
}
