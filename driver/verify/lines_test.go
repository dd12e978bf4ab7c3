package verify_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pawl/driver/ground"
	"pawl/driver/verify"
	"pawl/internal/need"
	"pawl/kernel/effect"
)

// What the tests of a program in Python run, in its own process and in another, is told by statements: a declaration
// has run when something in it has.
func TestPythonTellsOfLines(t *testing.T) {
	need.Program(t, "python3")
	need.Program(t, "pytest")
	const text = `"""A module."""
LIMITS = [
    3,
    9,
]


def size(n):
    """How large."""
    if n > LIMITS[0]:
        return ("large "
                "indeed")
    try:
        return "small"
    except ValueError:
        return "odd"


def never():
    x = 1
    return x


class Box:
    def open(self):
        return 1
`
	const tests = `import os, subprocess, sys, unittest
import size


class Size(unittest.TestCase):
    def test_small(self):
        self.assertEqual(size.size(1), "small")

    def test_elsewhere(self):
        code = "import size, os; size.Box().open(); os._exit(0)"
        subprocess.check_call([sys.executable, "-c", code])
`
	texts := map[string]string{"size.py": text, "late.py": "x = 1\n", "torn.py": "def ("}
	files := map[string]string{"test_size.py": tests}
	for name, text := range texts {
		files[name] = text
	}
	v, place, _ := project(t, files)
	for _, command := range []string{"python3 -m unittest", "pytest -q"} {
		ran := verify.Ran{}
		c := effect.Check{Name: "tests", Command: command, Kind: "test", Level: 2}
		if ok, err := v.Measure(t.Context(), &ground.Ground{Place: place}, c, texts, time.Minute, ran); !ok || err != nil {
			t.Fatalf("%s: %v %v", command, ok, err)
		}
		var yes, no []int
		for line, is := range ran["size.py"] {
			if is {
				yes = append(yes, line)
			} else {
				no = append(no, line)
			}
		}
		slices.Sort(yes)
		slices.Sort(no)
		if got, want := fmt.Sprint(yes, no), "[1 2 3 4 5 10 14 26] [11 12 16 20 21]"; got != want {
			t.Errorf("%s: %s, want %s", command, got, want)
		}
		if got := fmt.Sprint(ran["late.py"], ran["torn.py"]); got != "map[1:false] map[]" {
			t.Errorf("%s: %s", command, got)
		}
	}
}
