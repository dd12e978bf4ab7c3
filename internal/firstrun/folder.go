// Package firstrun takes pawl's first run through the kinds of folders that people have, and judges what came of it by
// what lies in the folder and stands on the screen. Nothing is fetched: dependencies are made by hand, and Go modules
// come from a registry on loopback. Each folder holds the same small fault, which a test shows where there are tests.
//
// The command over it is internal/ways.
package firstrun

import (
	"fmt"
	"maps"
	"path/filepath"
	"strings"
)

// Folder is a kind of folder that people have. It is made anew for each way that is gone in it.
type Folder struct {
	Name string
	// Says is the folder in a few words.
	Says string
	// Needs are the programs without which it cannot be made or tried.
	Needs []string
	// Fault is the file with the fault, "" where there is none; Wrong and Right are what it holds and what it ought to.
	// In a folder without a fault Right is what a file of that name has to hold when the work is done.
	file, wrong, right string
	// Asks is what an agent is asked for.
	asks string
	// Test is the shell command that shows the fault, run by the instrument itself outside of any walls.
	test string
	// Custom says that a plan has to name the test, because pawl finds no checks of its own.
	custom bool
	// Ignored are the paths that git ignores and the tests need.
	ignored []string
	files   map[string]string
	// More makes what is no file with a fixed text.
	more func(m *maker) error
	// Git is false where the folder is no repository.
	git bool
	// Compiles says that the first check compiles Go's standard library, unless caches are lent.
	compiles bool
	// large says that making it takes so long that it is not gone in each way.
	large bool
}

// Ways returns the ways that are gone in the folder.
func (f *Folder) Ways() []Way {
	if f.large {
		return []Way{Default, Agent}
	}
	return []Way{Default, Asked, Agent}
}

// Told is what every test says of the fault. A screen that says it has told the person what is wrong.
const Told = "sum of 2 and 3 is -1"

// The dependency of the samples negates a number. It is called sign everywhere.
const (
	goSum   = "package sum\n\nimport \"example.com/sign\"\n\n// Sum adds.\nfunc Sum(a, b int) int { return a %s sign.Neg(b) }\n"
	goPlain = "package sum\n\n// Sum adds.\nfunc Sum(a, b int) int { return a %s b }\n"
	goTest  = "package sum\n\nimport \"testing\"\n\nfunc TestSum(t *testing.T) {\n\tif got := Sum(2, 3); got != 5 {\n\t\tt.Errorf(\"sum of 2 and 3 is %d\", got)\n\t}\n}\n"
	goMod   = "module example.org/sum\n\ngo 1.21\n"
	goNeeds = goMod + "\nrequire " + signModule + " " + signVersion + "\n"
	lintYml = "version: \"2\"\nlinters:\n  enable:\n    - errcheck\n"

	nodeSum  = "const { neg } = require('sign');\n\nexports.sum = (a, b) => a %s neg(b);\n"
	nodeTest = "const { sum } = require(%q);\n\nif (sum(2, 3) !== 5) {\n  console.error(`sum of 2 and 3 is ${sum(2, 3)}`);\n  process.exit(1);\n}\n"
	nodeSign = "exports.neg = (n) => -n;\n"

	pySum    = "from sign import neg\n\n\ndef add(a, b):\n    return a %s neg(b)\n"
	pyPlain  = "def add(a, b):\n    return a %s b\n"
	pyUnit   = "import unittest\n\nfrom adder import add\n\n\nclass AddTest(unittest.TestCase):\n    def test_add(self):\n        self.assertEqual(add(2, 3), 5, f\"sum of 2 and 3 is {add(2, 3)}\")\n"
	pyPytest = "from adder import add\n\n\ndef test_add():\n    assert add(2, 3) == 5, f\"sum of 2 and 3 is {add(2, 3)}\"\n"

	shSum  = "#!/bin/sh\necho $(($1 %s $2))\n"
	shTest = "#!/bin/sh\ngot=$(sh sum.sh 2 3)\n[ \"$got\" = 5 ] || { echo \"sum of 2 and 3 is $got\"; exit 1; }\n"
	shMake = "test:\n\tsh test.sh\n.PHONY: test\n"

	cSum   = "int sum(int a, int b) { return a %s b; }\n"
	cCheck = "#include <stdio.h>\n\nint sum(int a, int b);\n\nint main(void) {\n\tif (sum(2, 3) == 5) return 0;\n\tprintf(\"sum of 2 and 3 is %d\\n\", sum(2, 3));\n\treturn 1;\n}\n"
	cMake  = "check: check.c sum.c\n\t$(CC) -o check check.c sum.c\n\ntest: check\n\t./check\n\n.PHONY: test\n"

	readme = "# sum\n\nAdds two numbers.\n"
)

// many is how many files the large folders hold.
const many = 50_000

// Folders returns every kind, in the order of the table.
func Folders() []Folder {
	ask := "The sum of 2 and 3 is -1, it must be 5"
	fault := func(f Folder, file, text, wrong, right string) Folder {
		f.file, f.wrong, f.right = file, fmt.Sprintf(text, wrong), fmt.Sprintf(text, right)
		f.asks, f.git = ask, f.Name != "no-git"
		f.files[file] = f.wrong
		f.files["README.md"] = readme
		return f
	}
	golang := func(name, says string, more func(*maker) error, files map[string]string) Folder {
		f := Folder{Name: name, Says: says, Needs: []string{"go"}, test: "go vet ./... && go test ./...", more: more, compiles: true}
		f.files = map[string]string{"go.mod": goNeeds, "go.sum": signSums(), "sum_test.go": goTest}
		maps.Copy(f.files, files)
		if f.files["go.mod"] == goMod {
			delete(f.files, "go.sum")
			return fault(f, "sum.go", goPlain, "-", "+")
		}
		return fault(f, "sum.go", goSum, "+", "-")
	}
	node := func(name, says string, more func(*maker) error) Folder {
		f := Folder{Name: name, Says: says, Needs: []string{"node", "npm"}, test: "npm test", ignored: []string{"node_modules"}, more: more}
		f.files = map[string]string{
			"package.json": `{"name":"sum","version":"1.0.0","private":true,"scripts":{"test":"node test.js"},"dependencies":{"sign":"1.0.0"}}` + "\n", "package-lock.json": npmLock,
			".gitignore": "node_modules/\n", "test.js": fmt.Sprintf(nodeTest, "./sum.js"),
		}
		return fault(f, "sum.js", nodeSum, "+", "-")
	}
	python := func(name, says, file, test, command string, venv bool, needs string) Folder {
		f := Folder{Name: name, Says: says, Needs: []string{"python3"}, test: command, files: map[string]string{file: test, "requirements.txt": needs, ".gitignore": "__pycache__/\n.venv/\n"}}
		text, wrong, right := pyPlain, "-", "+"
		if venv {
			f.more, f.ignored = virtualEnv, []string{".venv"}
			text, wrong, right = pySum, "+", "-"
		}
		return fault(f, "adder.py", text, wrong, right)
	}
	shell := func(name, says string, files map[string]string) Folder {
		f := Folder{Name: name, Says: says, test: "sh test.sh", files: map[string]string{"test.sh": shTest}, custom: files == nil}
		maps.Copy(f.files, files)
		return fault(f, "sum.sh", shSum, "-", "+")
	}
	c := fault(Folder{
		Name: "c-make", Says: "C with make", Needs: []string{"make", "cc"}, test: "make test",
		files: map[string]string{"Makefile": cMake, "check.c": cCheck, ".gitignore": "check\n"},
	}, "sum.c", cSum, "-", "+")
	noGit := shell("no-git", "shell with make, no git", map[string]string{"Makefile": shMake})
	noGit.Needs = []string{"make"}
	large := shell("files-50000", "shell with make, 50,000 files", map[string]string{"Makefile": shMake})
	large.Needs, large.large, large.more = []string{"make"}, true, func(m *maker) error { return m.litter("data", many) }
	packages := node("node-50000", "Node, 50,000 files in node_modules", func(m *maker) error {
		if err := m.write(nodePackage("node_modules/sign")); err != nil {
			return err
		}
		return m.litter(filepath.Join("node_modules", "large"), many)
	})
	packages.large = true
	return []Folder{
		golang("go-modules", "Go, modules downloaded", downloaded, nil),
		golang("go-fetch", "Go, modules not downloaded", nil, nil),
		golang("go-linter", "Go, .golangci.yml, no linter", nil, map[string]string{"go.mod": goMod, ".golangci.yml": lintYml}),
		golang("go-vendor", "Go, vendored", nil, map[string]string{"vendor/modules.txt": fmt.Sprintf("# %[1]s %[2]s\n## explicit; go 1.20\n%[1]s\n", signModule, signVersion), "vendor/" + signModule + "/sign.go": signGo}),
		node("node", "Node, node_modules ignored", func(m *maker) error { return m.write(nodePackage("node_modules/sign")) }),
		pnpmWorkspace(fault),
		python("python-venv", "Python, .venv, unittest", "test_adder.py", pyUnit, ".venv/bin/python -m unittest -q", true, "sign==1.0.0\n"),
		python("python-unittest", "Python, unittest", "test_adder.py", pyUnit, "python3 -m unittest -q", false, ""),
		python("python-pytest", "Python, .venv, pytest", "test_adder.py", pyPytest, ".venv/bin/python -m pytest -q", true, "sign==1.0.0\npytest\n"),
		c,
		shell("shell", "shell with a test script", nil),
		{
			Name: "empty", Says: "an empty folder", file: "hello.sh", right: "#!/bin/sh\necho hello\n", custom: true,
			asks: "Write hello.sh, which prints hello", test: "[ \"$(sh hello.sh)\" = hello ]",
		},
		noGit,
		large,
		packages,
	}
}

// nodePackage is the dependency as an installed package.
func nodePackage(dir string) map[string]string {
	return map[string]string{dir + "/package.json": `{"name":"sign","version":"1.0.0","main":"index.js"}` + "\n", dir +
		"/index.js": nodeSign}
}

const (
	npmLock = `{
  "name": "sum",
  "version": "1.0.0",
  "lockfileVersion": 3,
  "requires": true,
  "packages": {
    "": {"name": "sum", "version": "1.0.0", "dependencies": {"sign": "1.0.0"}},
    "node_modules/sign": {"version": "1.0.0", "resolved": "https://registry.npmjs.org/sign/-/sign-1.0.0.tgz"}
  }
}
`
	pnpmLock = `lockfileVersion: '9.0'

settings:
  autoInstallPeers: true
  excludeLinksFromLockfile: false

importers:

  .: {}

  packages/app:
    dependencies:
      sign:
        specifier: 1.0.0
        version: 1.0.0
      sum:
        specifier: workspace:*
        version: link:../sum

  packages/sum: {}

packages:

  sign@1.0.0: {}

snapshots:

  sign@1.0.0: {}
`
)

// pnpmWorkspace has the fault in one package and the test in another, which finds the first through a link in its
// node_modules: a worktree whose links lead into the user's own tree would be judged by the wrong code.
func pnpmWorkspace(fault func(f Folder, file, text, wrong, right string) Folder) Folder {
	app := "packages/app/"
	f := Folder{
		Name: "pnpm", Says: "pnpm workspace", Needs: []string{"node", "npm"}, test: "node " + app +
			"test.js", ignored: []string{"node_modules", app + "node_modules"},
		files: map[string]string{
			"package.json": `{"name":"root","private":true,"scripts":{"test":"node packages/app/test.js"}}` +
				"\n", "pnpm-workspace.yaml": "packages:\n  - packages/*\n", "pnpm-lock.yaml": pnpmLock,
			".gitignore":         "node_modules/\n",
			app + "package.json": `{"name":"app","version":"1.0.0","private":true,"dependencies":{"sign":"1.0.0","sum":"workspace:*"}}` + "\n",
			app + "test.js": strings.Replace(fmt.Sprintf(nodeTest, "sum"), "const",
				"const { neg } = require('sign');\nconst", 1) + "\nif (neg(1) !== -1) process.exit(1);\n",
			"packages/sum/package.json": `{"name":"sum","version":"1.0.0","private":true,"main":"index.js"}` + "\n",
		},
		more: func(m *maker) error {
			store := "node_modules/.pnpm/sign@1.0.0/node_modules/sign"
			if err := m.write(nodePackage(store)); err != nil {
				return err
			}
			if err := m.write(map[string]string{"node_modules/.modules.yaml": "layoutVersion: 5\nnodeLinker: isolated\nvirtualStoreDir: .pnpm\n"}); err != nil {
				return err
			}
			if err := m.link("../../../"+store, app+"node_modules/sign"); err != nil {
				return err
			}
			return m.link("../../sum", app+"node_modules/sum")
		},
	}
	return fault(f, "packages/sum/index.js", "exports.sum = (a, b) => a %s b;\n", "-", "+")
}
