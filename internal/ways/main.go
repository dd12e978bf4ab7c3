// Command ways goes pawl's first run through the kinds of folders that people have, and prints what came of each: the
// work done and proven apart from pawl, or the one next command, which it gives as well where that needs no network and
// no person. It ends with status 1 where there is a dead end.
//
//	go run ./internal/ways [-under FLOOR,…] [-only FOLDER,…] [-way WAY,…] [-uid N] [-json] [-pawl FILE]
//
// A floor is a machine that forbids something. Root can have all be done as an ordinary user with -uid.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"pawl/internal/firstrun"
)

type flags struct {
	under, only, way, pawl, dir string
	uid                         int
	json, cold, keep, screens   bool
	patience                    time.Duration
}

func main() {
	firstrun.Child()
	var f flags
	flag.StringVar(&f.under, "under", "none", "the floors, between commas; each is none, or parts joined by +:\n"+
		firstrun.Floors())
	flag.StringVar(&f.only, "only", "", "these folders alone, between commas")
	flag.StringVar(&f.way, "way", "", "these ways alone, between commas: default, asked, agent")
	flag.IntVar(&f.uid, "uid", -1, "as root: do everything as this user and group")
	flag.BoolVar(&f.json, "json", false, "print one JSON object a row, with the screens")
	flag.BoolVar(&f.cold, "cold", false, "have every folder of Go compile the standard library")
	flag.BoolVar(&f.keep, "keep", false, "leave the folders where they are and say where")
	flag.BoolVar(&f.screens, "screens", false, "print every screen to the standard error")
	flag.StringVar(&f.pawl, "pawl", "", "the program to try (default: it is built)")
	flag.StringVar(&f.dir, "dir", "", "work below this folder (default: that for temporary files)")
	flag.DurationVar(&f.patience, "patience", 10*time.Minute, "the limit of each command")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	bad, err := run(ctx, f)
	if err != nil {
		fmt.Fprintln(os.Stderr, "ways:", err)
		os.Exit(2)
	}
	if bad {
		os.Exit(1)
	}
}

// run goes all ways and reports whether one was bad.
func run(ctx context.Context, f flags) (bad bool, err error) {
	dir, done, err := firstrun.Ground(f.dir, "ways", f.keep)
	if err != nil {
		return false, err
	}
	defer done()
	if f.pawl, err = firstrun.Built(ctx, f.pawl, ".", dir); err != nil {
		return false, err
	}
	if f.uid >= 0 {
		return again(ctx, f, dir)
	}
	o := firstrun.Options{Dir: dir, Pawl: f.pawl, Path: searchPath(), Cold: f.cold, Keep: f.keep, Patience: f.patience}
	for name := range strings.SplitSeq(f.under, ",") {
		if o.Floor, err = firstrun.ParseFloor(name); err != nil {
			return bad, err
		}
		rows, err := table(ctx, o, f)
		if err != nil {
			return bad, err
		}
		bad = bad || slices.ContainsFunc(rows, func(r firstrun.Row) bool { return r.Verdict.Bad() })
		if !f.json {
			who := "root"
			if os.Geteuid() != 0 {
				who = "an ordinary user"
			}
			fmt.Printf("## Floor %s, as %s\n\n%s\n", name, who, firstrun.Table(rows))
		}
	}
	return bad, nil
}

// table goes the ways on one floor.
func table(ctx context.Context, o firstrun.Options, f flags) ([]firstrun.Row, error) {
	var rows []firstrun.Row
	tried := 0
	for _, folder := range firstrun.Folders() {
		for _, way := range folder.Ways() {
			if !chosen(f.only, folder.Name) || !chosen(f.way, string(way)) {
				continue
			}
			tried++
			row, err := firstrun.Go(ctx, o, folder, way)
			if err != nil {
				return rows, err
			}
			rows = append(rows, row)
			fmt.Fprintf(os.Stderr, "ways: %-12s %-16s %-8s %-12s %s\n", o.Floor.Name, folder.Name, way, row.Verdict,
				row.Why)
			if f.screens {
				fmt.Fprintln(os.Stderr, strings.Join(row.Screens, "\n"))
			}
			if f.json {
				if err := json.NewEncoder(os.Stdout).Encode(row); err != nil {
					return rows, err
				}
			}
		}
	}
	if tried == 0 {
		return nil, fmt.Errorf("no folder is called %q with a way %q", f.only, f.way)
	}
	return rows, nil
}

func chosen(names, name string) bool {
	return names == "" || slices.Contains(strings.Split(names, ","), name)
}

// searchPath are folders in which a person of any kind finds programs: those of the system, and Go's.
func searchPath() []string {
	path := []string{"/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"}
	if golang, err := exec.LookPath("go"); err == nil {
		path = append([]string{filepath.Dir(golang)}, path...)
	}
	return path
}
