package testlist

import (
	"path"
	"regexp"
	"strings"
	"sync"
)

var (
	javaPackage = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^\s*package\s+([\w.]+)`) })
	// javaTest matches a test with a name of its own: not one of several cases.
	javaTest = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?m)^[ \t]*@(?:org\.junit\.(?:jupiter\.api\.)?)?Test\b(?:\([^)\n]*\))?((?:\s+@\w+(?:\([^)\n]*\))?)*)\s+(?:(?:public|protected|final|static|internal|open)\s+)*(?:void|fun)\s+(\w+)\s*\(`)
	})
)

// javaFile lists the tests of a class in a folder for tests. A class inherits tests that are not seen here.
func (l *list) javaFile(file string, text []byte) {
	if !strings.Contains("/"+file, "/src/test/") || strings.Contains(string(text), "@DisplayNameGeneration") {
		return
	}
	class := strings.TrimSuffix(path.Base(file), path.Ext(file))
	if m := javaPackage().FindSubmatch(text); m != nil {
		class = string(m[1]) + "." + class
	}
	var begins []int
	first := len(l.found)
	for _, at := range javaTest().FindAllSubmatchIndex(text, -1) {
		if !strings.Contains(string(text[at[2]:at[3]]), "@DisplayName") {
			l.add(file, class, string(text[at[4]:at[5]]), "")
			begins = append(begins, at[0])
		}
	}
	l.upTo(first, text, begins)
}
