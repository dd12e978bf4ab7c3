package message_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"pawl/text/message"
)

// verb finds the placeholders of a format: flags, an explicit index, and the letter.
var verb = regexp.MustCompile(`%[#+ 0-9.]*(?:\[(\d+)\])?[#+ 0-9.]*([a-zA-Z%])`)

// verbs lists the placeholders of a format as "index letter", sorted, each once.
func verbs(format string) []string {
	var out []string
	next := 1
	for _, m := range verb.FindAllStringSubmatch(format, -1) {
		if m[2] == "%" {
			continue
		}
		if n, err := strconv.Atoi(m[1]); err == nil {
			next = n
		}
		out = append(out, strconv.Itoa(next)+m[2])
		next++
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func TestBothLanguagesHaveTheSamePlaceholders(t *testing.T) {
	for _, key := range message.Keys() {
		e, _ := message.Lookup(key)
		if !slices.Equal(verbs(e.En), verbs(e.Zh)) {
			t.Errorf("%s: %v in English, %v in Chinese", key, verbs(e.En), verbs(e.Zh))
		}
		if (e.HintEn == "") != (e.HintZh == "") || !slices.Equal(verbs(e.HintEn), verbs(e.HintZh)) {
			t.Errorf("%s: the hints differ: %v and %v", key, verbs(e.HintEn), verbs(e.HintZh))
		}
		if (e.En == "") != (e.Zh == "") {
			t.Errorf("%s: one of the languages is missing", key)
		}
	}
}

// Two texts under one key would be one text, and which of them no reader could tell.
func TestEveryKeyStandsOnce(t *testing.T) {
	seen := map[string]bool{}
	for _, key := range message.Keys() {
		if seen[key] {
			t.Errorf("%s stands in the catalogue twice", key)
		}
		if _, ok := message.Lookup(key); !ok {
			t.Errorf("%s is a key, and is not found", key)
		}
		seen[key] = true
	}
}

// oneWord are words for things that the Chinese texts call by another name; one thing has one name.
var oneWord = map[string]string{"您": "你", "关卡": "门禁", "退出状态": "退出码", "文件夹": "目录"}

// aProxy matches the English texts whose Chinese may speak of 代理, which is no agent there but a proxy.
var aProxy = regexp.MustCompile(`(?i)prox|surrogate|carries a command.s connections`)

func TestChineseHasOneWordForOneThing(t *testing.T) {
	for _, key := range message.Keys() {
		e, _ := message.Lookup(key)
		for word, right := range oneWord {
			if strings.Contains(e.Zh+e.HintZh, word) {
				t.Errorf("%s says %s, which is %s everywhere else", key, word, right)
			}
		}
		if strings.Contains(e.Zh+e.HintZh, "代理") && !aProxy.MatchString(e.En+e.HintEn) {
			t.Errorf("%s calls an agent a proxy: an agent is 智能体", key)
		}
		if strings.Contains(e.Zh+e.HintZh, "  ") && !strings.Contains(e.En+e.HintEn, "  ") {
			t.Errorf("%s has two blanks in a row: %q", key, e.Zh)
		}
	}
}

// issue finds what is said of an issue of the board. A known issue of a project is a problem that it has.
var issue = regexp.MustCompile(`(?i)(?:^|[^n] )issues?\b`)

// 问题 is a question or a problem; an issue of the board is 议题, as it is at the places where people take issues from.
func TestAnIssueIsNoQuestion(t *testing.T) {
	seen := 0
	for _, key := range message.Keys() {
		e, _ := message.Lookup(key)
		for _, text := range [][2]string{{e.En, e.Zh}, {e.HintEn, e.HintZh}} {
			if !issue.MatchString(text[0]) {
				continue
			}
			if seen++; strings.Contains(text[1], "问题") {
				t.Errorf("%s: %s", key, text[1])
			}
		}
	}
	if seen < 60 {
		t.Errorf("only %d texts about issues were found", seen)
	}
}

// site is a place in the code that names a message.
type site struct {
	key, at string
}

// TestEveryMessageExists reads the whole repository for keys of messages: the arguments of pawl.Fail and of everything
// that renders text, and fields named Key.
func TestEveryMessageExists(t *testing.T) {
	var missing []string
	for _, s := range sites(t, "../..") {
		if _, ok := message.Lookup(s.key); !ok {
			missing = append(missing, s.key+" at "+s.at)
		}
	}
	slices.Sort(missing)
	for _, m := range slices.Compact(missing) {
		t.Errorf("no message %s", m)
	}
}

func sites(t *testing.T, root string) []site {
	t.Helper()
	var out []site
	set := token.NewFileSet()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" ||
			d.Name() == "bench") {
			return fs.SkipDir
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		out = append(out, keysOf(set, file)...)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(out) < 100 {
		t.Fatalf("only %d keys found; the scan is broken", len(out))
	}
	return out
}

// rendering are the functions that take a key of the catalogue, with the place of the key among the arguments.
var rendering = map[string]int{
	"Fail": 1, "Text": 0, "text": 0, "sayText": 0, "Hint": 0, "usage": 0, "section": 0, "badArgs": 0, "broken": 0,
	"note": 0, "row": 0,
	"SayText": 0, "Section": 0, "Usage": 0, "TextIn": 1, "written": 1,
}

// shape is what a key looks like: an area and a name.
var shape = regexp.MustCompile(`^[a-z]+\.[a-z_]+(\.[a-z_]+)*$`)

// areas are the first parts of the catalogue's keys. Other functions of the same name take other text, such as file
// names.
var areas = sync.OnceValue(func() []string {
	var out []string
	for _, k := range message.Keys() {
		area, _, _ := strings.Cut(k, ".")
		out = append(out, area)
	}
	slices.Sort(out)
	return slices.Compact(out)
})

func keysOf(set *token.FileSet, file *ast.File) []site {
	var out []site
	add := func(e ast.Expr, sure bool) {
		lit, ok := e.(*ast.BasicLit)
		if !ok || lit.Kind != token.STRING {
			return
		}
		key, err := strconv.Unquote(lit.Value)
		area, _, _ := strings.Cut(key, ".")
		if err == nil && shape.MatchString(key) && (sure || slices.Contains(areas(), area)) {
			out = append(out, site{key, set.Position(lit.Pos()).String()})
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			name := ""
			switch f := n.Fun.(type) {
			case *ast.Ident:
				name = f.Name
			case *ast.SelectorExpr:
				name = f.Sel.Name
			}
			if at, ok := rendering[name]; ok && at < len(n.Args) {
				add(n.Args[at], name == "Fail")
			}
		case *ast.KeyValueExpr:
			if id, ok := n.Key.(*ast.Ident); ok && id.Name == "Key" {
				add(n.Value, false)
			}
		}
		return true
	})
	return out
}
