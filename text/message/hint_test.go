package message_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pawl/text/message"
)

var (
	heading = regexp.MustCompile(`(?m)^#{2,3} pawl (.+)$`)
	option  = regexp.MustCompile(`--[a-z][a-z-]*`)
	// told finds a command in a hint, up to where its sentence or its line goes on with something else.
	told = regexp.MustCompile(`(: |：|用 |运行 |with )?pawl ([a-z]+(?: [a-z]+)*)((?: (?:--?[a-z-]+|[A-Z%][^\s,;，；。）]*))*)`)
)

// commands are the commands of the shell with all that docs/cli.md says of each; that page is written from the
// commands.
func commands(t *testing.T) map[string]string {
	t.Helper()
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "cli.md"))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{"help": ""}
	at := heading.FindAllStringSubmatchIndex(string(page), -1)
	for n, m := range at {
		end := len(page)
		if n+1 < len(at) {
			end = at[n+1][0]
		}
		out[string(page[m[2]:m[3]])] = string(page[m[1]:end])
	}
	return out
}

// A hint that names a command which does not exist leaves a person where she was.
func TestHintsNameCommandsThatExist(t *testing.T) {
	known := commands(t)
	everywhere := []string{"--dir", "--help", "--issue", "--json", "--lang", "--no-color"}
	seen := 0
	for _, key := range message.Keys() {
		e, _ := message.Lookup(key)
		for _, hint := range []string{e.HintEn, e.HintZh} {
			for _, m := range told.FindAllStringSubmatch(hint, -1) {
				words := strings.Fields(m[2])
				name := words[0]
				about, ok := known[name]
				if !ok {
					if m[1] != "" && m[1] != "with " {
						t.Errorf("%s: there is no pawl %s: %s", key, name, hint)
					}
					continue
				}
				if len(words) > 1 {
					if sub, ok := known[name+" "+words[1]]; ok {
						about = sub
					}
				}
				for _, f := range option.FindAllString(m[3], -1) {
					if !slices.Contains(everywhere, f) && !slices.Contains(option.FindAllString(about, -1), f) {
						t.Errorf("%s: pawl %s has no %s: %s", key, m[2], f, hint)
					}
				}
				seen++
			}
		}
	}
	if len(known) < 80 || seen < 200 {
		t.Fatalf("%d commands and %d mentions found; the scan is broken", len(known), seen)
	}
}

// kind finds the kinds of effects where they are declared.
var kind = regexp.MustCompile(`(?m)^\s*(?:const )?Kind\w+\s+Kind = "([a-z.]+)"`)

// Whatever the kernel has done is told by name, also by a face that knows nothing else of it.
func TestEveryEffectHasAName(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "..", "kernel", "effect", "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, f := range files {
		src, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range kind.FindAllSubmatch(src, -1) {
			n++
			if _, ok := message.Lookup("cli.effect." + string(m[1])); !ok {
				t.Errorf("the effect %s has no name", m[1])
			}
		}
	}
	if n < 22 {
		t.Fatalf("only %d kinds found; the scan is broken", n)
	}
}
