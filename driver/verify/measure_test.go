package verify

import (
	"fmt"
	"slices"
	"testing"
	"testing/fstest"
)

func ranLines(ran Ran, file string) string {
	var yes, no []int
	for line, is := range ran[file] {
		if is {
			yes = append(yes, line)
		} else {
			no = append(no, line)
		}
	}
	slices.Sort(yes)
	slices.Sort(no)
	return fmt.Sprint(yes, no)
}

func TestGoLines(t *testing.T) {
	ran := Ran{}
	profile := "mode: set\nexample.org/m/sub/a.go:3.20,5.2 2 1\nexample.org/m/sub/a.go:5.2,7.3 1 0\nexample.org/m/b.go:1.1,9.9 1 1\nbad\nx:1.1\n"
	if !goLines(fstest.MapFS{"profile": {Data: []byte(profile)}}, map[string]string{"sub/a.go": "of/sub/a.go"}, ran) {
		t.Fatal("it was not read")
	}
	if got := ranLines(ran, "of/sub/a.go"); got != "[3 4 5] [6 7]" || len(ran) != 1 {
		t.Error(got, ran)
	}
	if goLines(fstest.MapFS{}, nil, ran) {
		t.Error("no profile is no measure")
	}
}

func TestNodeLines(t *testing.T) {
	text := "// é𝄞\nfunction a(n) {\n  if (n > 5) {\n    return 9;\n  }\n  return n;\n}\nfunction b() {\n  return 3;\n}\n"
	report := `{"result":[{"url":"node:internal","functions":[]},{"url":"file:///w/t/a.js","functions":[
		{"functionName":"","ranges":[{"startOffset":0,"endOffset":200,"count":1}]},
		{"functionName":"a","ranges":[{"startOffset":7,"endOffset":69,"count":2},{"startOffset":36,"endOffset":55,"count":0}]},
		{"functionName":"b","ranges":[{"startOffset":70,"endOffset":100,"count":0}]}]}]}`
	of, texts := map[string]string{"a.js": "a.js", "never.js": "never.js"}, map[string]string{"a.js": text, "never.js": "x();\ny();\n"}
	ran := Ran{}
	if !nodeLines(fstest.MapFS{"coverage-1.json": {Data: []byte(report)}, "torn.json": {Data: []byte(`{"result`)}}, "/w/t", of, texts, ran) {
		t.Fatal("it was not read")
	}
	if got := ranLines(ran, "a.js"); got != "[1 2 3 6 7] [4 5 8 9 10]" {
		t.Error(got)
	}
	if got := ranLines(ran, "never.js"); got != "[] [1 2 3]" {
		t.Error(got)
	}
	if nodeLines(fstest.MapFS{}, "/w/t", of, texts, Ran{}) {
		t.Error("no report is no measure")
	}
}
