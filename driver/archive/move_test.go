package archive

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pawl"
	"pawl/kernel/effect"
)

const packaged = "202602011200_a"

// withPackage is an archive's effect for a package that a person wrote, with what lies below .pawl before it.
func withPackage(t *testing.T, below map[string]string) effect.Effect {
	t.Helper()
	from, to := "plan/"+packaged, "archive/2026-02/"+packaged
	files := []pawl.ProjectedFile{
		{Path: to + "/tasks.md", Content: "made", Unique: true}, {Path: to + "/proposal.md", Content: "made", Unique: true},
		{Path: "archive/_index.md", Content: "[a](2026-02/" + packaged + "/)\n", Append: true, Marker: packaged},
	}
	e := archiveEffect(t)
	for name, content := range below {
		at := filepath.Join(e.Place.Workspace, ".pawl", filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	e.Spec = effect.Encode(effect.ArchiveSpec{Files: files, Package: &effect.Retired{From: from, To: to,
		Tasks: effect.NewDocument(from+"/tasks.md", "closed", []byte("open"), true)}})
	return e
}

// A package goes into the archive with all that is in it, whatever a crash left half done, and never over another one.
func TestPackageIsMoved(t *testing.T) {
	live, first := "plan/"+packaged, "archive/2026-02/"+packaged
	for what, c := range map[string]struct{ below, want map[string]string }{
		"as it was read": {map[string]string{live + "/tasks.md": "open", live + "/sub/notes.md": "n"},
			map[string]string{first + "/tasks.md": "closed", first + "/sub/notes.md": "n",
				"archive/_index.md": "[a](2026-02/" + packaged + "/)\n"}},
		"written and not moved yet": {map[string]string{live + "/tasks.md": "closed", live + "/notes.md": "n"},
			map[string]string{first + "/tasks.md": "closed", first + "/notes.md": "n",
				"archive/_index.md": "[a](2026-02/" + packaged + "/)\n"}},
		"moved and not told yet": {map[string]string{first + "/tasks.md": "closed", first + "/notes.md": "n"},
			map[string]string{first + "/tasks.md": "closed", first + "/notes.md": "n",
				"archive/_index.md": "[a](2026-02/" + packaged + "/)\n"}},
		"the name is taken": {map[string]string{live + "/tasks.md": "open", first + "/tasks.md": "older"},
			map[string]string{first + "/tasks.md": "older", first + "_v2/tasks.md": "closed",
				"archive/_index.md": "[a](2026-02/" + packaged + "_v2/)\n"}},
		"changed since": {map[string]string{live + "/tasks.md": "changed", live + "/notes.md": "n"},
			map[string]string{first + "/tasks.md": "changed", first + "/notes.md": "n",
				"archive/_index.md": "[a](2026-02/" + packaged + "/)\n"}},
		"gone": {map[string]string{"plan/other.md": "o"},
			map[string]string{"plan/other.md": "o", first + "/tasks.md": "made", first + "/proposal.md": "made",
				"archive/_index.md": "[a](2026-02/" + packaged + "/)\n"}},
	} {
		t.Run(what, func(t *testing.T) {
			e := withPackage(t, c.below)
			if a, _ := New().Done(t.Context(), e); a != effect.DoneNo {
				t.Errorf("before: %s", a)
			}
			r := New().Do(t.Context(), e, nil)
			if !r.OK {
				t.Fatal(r.Err())
			}
			if changed := r.Cause != nil && r.Cause.Key == "archive.package_changed"; changed != (what == "changed since") {
				t.Errorf("the receipt tells %+v", r.Cause)
			}
			have := content(t, filepath.Join(e.Place.Workspace, ".pawl"))
			for name, want := range c.want {
				if have[name] != want {
					t.Errorf("%s: %q, want %q", name, have[name], want)
				}
			}
			for name := range have {
				if _, ok := c.want[name]; !ok || strings.HasPrefix(name, live) {
					t.Errorf("%s is there", name)
				}
			}
			made, err := effect.Decode[effect.ArchiveResult](r.Result)
			if err != nil || (made.Package == nil) != (what == "gone") {
				t.Errorf("%+v %v", made, err)
			}
			if a, _ := New().Done(t.Context(), e); a != effect.DoneYes && what != "changed since" {
				t.Errorf("after: %s", a)
			}
		})
	}
}
