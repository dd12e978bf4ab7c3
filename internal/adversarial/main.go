// Command adversarial tries every hostile case of docs/spec/threats.md and tells by number which are held: the payloads
// in full, as who runs it and, for root, as an ordinary user as well, in namespaces, under bubblewrap and on the floor,
// in place and in worktrees.
//
//	go run ./internal/adversarial
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

func main() {
	if !run() {
		os.Exit(1)
	}
}

// run tries everything, and reports whether all is held.
func run() bool {
	want := map[string][]string{} // tests by package
	for _, r := range slices.Concat(cases, seen) {
		for _, name := range strings.Fields(r.tests) {
			if !slices.Contains(want[r.pkg], name) {
				want[r.pkg] = append(want[r.pkg], name)
			}
		}
	}
	ended, start := map[string]string{}, time.Now()
	for _, pkg := range slices.Sorted(maps.Keys(want)) {
		for name, how := range try(pkg, want[pkg]) {
			ended[pkg+" "+name] = how
		}
	}
	failed, tried := 0, 0
	for _, part := range []struct {
		title string
		rows  []row
	}{{"case", cases}, {"seen", seen}} {
		for _, r := range part.rows {
			for n := r.from; n <= r.to; n++ {
				verdict := "held"
				for _, name := range strings.Fields(r.tests) {
					how := ended[r.pkg+" "+name]
					// Where it is known of which cases something got out, the others are held.
					at, got := strings.CutPrefix(how, gotOut)
					if got && !slices.Contains(strings.Fields(at), strconv.Itoa(n)) {
						how = "pass"
					}
					if how != "pass" {
						verdict = "NOT HELD: " + name + " " + how
					}
				}
				tried++
				if verdict != "held" {
					failed++
				}
				fmt.Printf("%s %3d  %-9s %-9s %s\n", part.title, n, r.oracle, verdict, r.pkg)
			}
		}
	}
	fmt.Printf("%d numbers, %d tests, %s: %d not held\n", tried, len(ended), time.Since(start).Round(time.Second), failed)
	return failed == 0
}

// gotOut begins how a test of payloads ended of which something got out; the numbers of their cases follow.
const gotOut = "got out:"

var ofCase = regexp.MustCompile(`a payload of case (\d+) got out`)

// lastSaid is how much of what a test says is shown when it has failed, in bytes.
const lastSaid = 8 << 10

// try runs tests of a package and returns how each ended, and shows what those say that did not pass. One that did not
// run, or left itself out, did not pass.
func try(pkg string, names []string) map[string]string {
	args := []string{"test", "-json", "-count=1", "-timeout", "120m", "-run", "^(" + strings.Join(names, "|") + ")$", "./" + pkg}
	if pkg == sandbox {
		args = append(args, "-payloads")
	}
	fmt.Fprintln(os.Stderr, "go", strings.Join(args, " "))
	cmd := exec.Command("go", args...)
	cmd.Stderr = os.Stderr
	events, _ := cmd.Output() // what failed is among the events
	ended, out, said := map[string]string{}, map[string]string{}, map[string]string{}
	for _, name := range names {
		ended[name] = "did not run"
	}
	in := bufio.NewScanner(bytes.NewReader(events))
	in.Buffer(nil, 16<<20)
	for in.Scan() {
		var e struct{ Action, Test, Output string }
		if json.Unmarshal(in.Bytes(), &e) != nil || e.Test == "" {
			continue
		}
		top, _, _ := strings.Cut(e.Test, "/")
		for _, m := range ofCase.FindAllStringSubmatch(e.Output, -1) {
			out[top] += " " + m[1]
		}
		switch {
		case e.Action == "output":
			said[top] += e.Output
			said[top] = said[top][max(0, len(said[top])-lastSaid):]
		case e.Action == "skip" || e.Action == "fail":
			if ended[top] = e.Action; out[top] != "" {
				ended[top] = gotOut + out[top]
			}
		case e.Action == "pass" && e.Test == top && ended[top] == "did not run":
			ended[top] = "pass"
		}
	}
	for name, how := range ended {
		if how != "pass" {
			fmt.Fprintf(os.Stderr, "%s %s %s\n%s", pkg, name, how, said[name])
		}
	}
	return ended
}
