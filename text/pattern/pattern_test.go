package pattern

import (
	"sync"
	"testing"
)

// TestGet: all who ask get one expression, and asking again costs nothing.
func TestGet(t *testing.T) {
	p := New(`^a+$`)
	if p.form != nil {
		t.Error("compiled before anybody asked")
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if got := p.Get(); !got.MatchString("aa") || got.MatchString("b") || got != p.Get() {
				t.Errorf("%v", got)
			}
		})
	}
	wg.Wait()
	if n := testing.AllocsPerRun(100, func() { p.Get() }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestNone: an expression that is none is a mistake of the program.
func TestNone(t *testing.T) {
	p := New(`(`)
	defer func() {
		if recover() == nil {
			t.Error("taken")
		}
	}()
	p.Get()
}
