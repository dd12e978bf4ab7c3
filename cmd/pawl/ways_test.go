package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pawl/internal/firstrun"
)

// TestFirstRun goes the first run of pawl through folders that need no compiler; make ways goes through all of them. An
// agent does the work; without one there is a way on at least.
func TestFirstRun(t *testing.T) {
	t.Parallel()
	all := firstrun.Folders()
	for name, ways := range map[string][]firstrun.Way{
		"shell": {firstrun.Default, firstrun.Agent}, "empty": {firstrun.Asked,
			firstrun.Agent}, "no-git": {firstrun.Agent},
	} {
		folder := all[slices.IndexFunc(all, func(f firstrun.Folder) bool { return f.Name == name })]
		for _, way := range ways {
			t.Run(name+" "+string(way), func(t *testing.T) {
				t.Parallel()
				dir, err := filepath.EvalSymlinks(t.TempDir())
				if err != nil {
					t.Fatal(err)
				}
				floor, err := firstrun.ParseFloor("none")
				if err != nil {
					t.Fatal(err)
				}
				row, err := firstrun.Go(t.Context(), firstrun.Options{
					Dir: dir, Pawl: os.Args[0], Env: []string{asPawl +
						"=1"}, Path: filepath.SplitList(os.Getenv("PATH")), Floor: floor, Patience: patience,
				}, folder, way)
				if err != nil {
					t.Fatal(err)
				}
				if row.Verdict.Bad() || way == firstrun.Agent &&
					(row.Verdict != firstrun.Done || len(row.Checks) == 0) {
					t.Errorf("%s: %s, %v\n%s", row.Verdict, row.Why, row.Checks, strings.Join(row.Screens, "\n"))
				}
			})
		}
	}
}
