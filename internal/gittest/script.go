package gittest

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// Manifest reads a folder: type, all mode bits, target or content of every path, and which names are one file.
func Manifest(t testing.TB, dir string) string {
	t.Helper()
	var lines []string
	first := map[uint64]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		if rel == ".git" || rel == ".pawl" {
			return fs.SkipDir
		}
		info, err := d.Info()
		if err != nil || rel == "." {
			return err
		}
		line := fmt.Sprintf("%q %v", rel, info.Mode())
		switch {
		case info.Mode()&fs.ModeSymlink != 0:
			target, err := os.Readlink(path)
			lines = append(lines, fmt.Sprintf("%q link %q", rel, target))
			return err
		case info.Mode().IsRegular():
			raw, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			st := info.Sys().(*syscall.Stat_t)
			if one, ok := first[st.Ino]; ok {
				line += fmt.Sprintf(" = %q", one)
			} else {
				first[st.Ino] = rel
			}
			line += fmt.Sprintf(" %q", raw)
		}
		lines = append(lines, line)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	sort.Strings(lines)
	return strings.Join(lines, "\n")
}

// scriptNames are what the scripts use: tracked, untracked and ignored ones, some each other's folders, some odd.
var scriptNames = []string{"a", "d/x", "d", "run", "link", "文", "bin", "u", "u/v", "new/deep/er", "x.log", "d/y.log",
	"ign/data", "ign/sub/z", "ign", "build.log/in", "sp ace", "-dash.log", "q'uo\"te", "new\nline.log", "$(id)",
	"back\\slash", "e/", "ign/e/", "u/e/", "d/e/", strings.Repeat("long", 50) + ".log", "ign/" + strings.Repeat("n", 200)}

// Script is a shell script of random edits. What the disk refuses, such as a file below a file, is no edit.
func Script(r *rand.Rand) string {
	var b strings.Builder
	name := func() string {
		return "'./" + strings.ReplaceAll(scriptNames[r.IntN(len(scriptNames))], "'", `'\''`) + "'"
	}
	texts := []string{"", "text\\n", "crlf\\r\\n", "\\0\\377bin", "no end", strings.Repeat("long ", 400)}
	text := func() string { return "'" + texts[r.IntN(len(texts))] + strconv.Itoa(r.IntN(9)) + "'" }
	modes := []string{"640", "600", "4755", "2755", "1777", "700", "750", "444", "755", "644"}
	for range 1 + r.IntN(12) {
		a := name()
		switch r.IntN(14) {
		case 0, 1:
			fmt.Fprintf(&b, "mkdir -p \"$(dirname -- %s)\"; [ -p %s ] || printf %s > %s\n", a, a, text(), a)
		case 2:
			fmt.Fprintf(&b, "[ -p %s ] || printf %s >> %s\n", a, text(), a)
		case 3:
			fmt.Fprintf(&b, "[ -p %s ] || : > %s\n", a, a)
		case 4, 5:
			fmt.Fprintf(&b, "chmod %s -- %s\n", modes[r.IntN(len(modes))], a)
		case 6:
			fmt.Fprintf(&b, "mv -f -- %s %s\n", a, name())
		case 7:
			fmt.Fprintf(&b, "rm -f -- %s\n", a)
		case 8:
			fmt.Fprintf(&b, "rm -rf -- %s\n", a)
		case 9:
			fmt.Fprintf(&b, "ln -sfn -- %s %s\n", name(), a)
		case 10:
			fmt.Fprintf(&b, "ln -f -- %s %s\n", name(), a)
		case 11:
			fmt.Fprintf(&b, "mkdir -p -- %s\n", a)
		case 12:
			fmt.Fprintf(&b, "rm -rf -- %s; mkdir -p -- %s; printf %s > %s/in\n", a, a, text(), a)
		case 13:
			fmt.Fprintf(&b, "mkfifo -m 600 -- %s\n", a)
		}
	}
	return b.String()
}

// Play runs a script in a folder.
func Play(t testing.TB, dir, text string) {
	t.Helper()
	cmd := exec.Command("sh", "-c", "umask 022\n"+text)
	cmd.Dir = dir
	_ = cmd.Run() // an edit that is refused is none
}

// Scripts is how many random scripts are tried: a few, unless $PAWL_SCRIPTS says more.
func Scripts() int {
	if n, err := strconv.Atoi(os.Getenv("PAWL_SCRIPTS")); err == nil {
		return n
	}
	return 40
}

// Differing names the lines of two manifests that differ.
func Differing(got, want string) string {
	var b strings.Builder
	in := func(list, l string) bool { return strings.Contains("\n"+list+"\n", "\n"+l+"\n") }
	for l := range strings.SplitSeq(got, "\n") {
		if !in(want, l) {
			b.WriteString("\n got  " + l[:min(len(l), 200)])
		}
	}
	for l := range strings.SplitSeq(want, "\n") {
		if !in(got, l) {
			b.WriteString("\n want " + l[:min(len(l), 200)])
		}
	}
	return b.String()
}
