// Package pattern holds regular expressions that cost a program nothing until it uses them: most starts use few of the
// hundreds that there are.
package pattern

import (
	"regexp"
	"sync"
)

// Pattern is a regular expression that is compiled when it is first asked for. Any number of goroutines may use it.
type Pattern struct {
	expr string
	once sync.Once
	form *regexp.Regexp
}

// New returns the pattern of an expression in the syntax of package regexp. It is small enough for the compiler to lay
// out what a package declares with it as data, so that nothing runs at the start of a program.
func New(expr string) *Pattern { return &Pattern{expr: expr} }

// Get returns the regular expression. It panics on an expression that is none.
func (p *Pattern) Get() *regexp.Regexp {
	p.once.Do(p.compile)
	return p.form
}

func (p *Pattern) compile() { p.form = regexp.MustCompile(p.expr) }
