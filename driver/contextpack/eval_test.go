package contextpack

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"pawl/driver/search"
	"pawl/effect"
	"strings"
	"testing"
)

func TestEval(t *testing.T) {
	if os.Getenv("CPEVAL") == "" {
		t.Skip()
	}
	js, _ := filepath.Glob("/tmp/cpx/*.json")
	gh, gn := 0, 0
	for _, j := range js {
		data, _ := os.ReadFile(j)
		var cs []struct {
			Module, File, Func, Requirement, All string
			Line, End                            int
		}
		json.Unmarshal(data, &cs)
		if len(cs) == 0 {
			continue
		}
		m, _ := filepath.Glob("/root/go/pkg/mod/*/*/" + cs[0].Module)
		m2, _ := filepath.Glob("/root/go/pkg/mod/*/*/*/" + cs[0].Module)
		m3, _ := filepath.Glob("/root/go/pkg/mod/*/" + cs[0].Module)
		m4, _ := filepath.Glob("/root/go/pkg/mod/*/*/*/*/" + cs[0].Module)
		m = append(append(append(m, m2...), m3...), m4...)
		if len(m) == 0 {
			fmt.Println("none", cs[0].Module)
			continue
		}
		b := New(Options{Walk: search.Files})
		h := 0
		for _, c := range cs {
			p, err := b.Build(t.Context(), Ask{Place: effect.Place{Workspace: m[0], Tree: m[0]}, Requirement: c.All + c.Requirement, Tokens: 8000})
			if err != nil {
				t.Fatal(err)
			}
			s := p
			s.Snippets = nil
			n := Cost(s)
			rank, at := -1, -1
			for i, x := range p.Snippets {
				n += snippetCost(x)
				if x.Path == c.File && x.StartLine <= c.Line+1 && (x.EndLine >= c.End || x.EndLine >= c.Line+60) {
					rank, at = i, n
					break
				}
			}
			ok := at >= 0 && at <= 2000
			if ok {
				h++
			}
			if os.Getenv("CPEVAL") == "v" && !ok {
				fmt.Println("  miss", c.Module, c.File, c.Func, "rank", rank, "at", at, strings.ReplaceAll(c.Requirement[38:min(len(c.Requirement), 200)], "\n", "|"))
			}
		}
		fmt.Println(cs[0].Module, h, "/", len(cs))
		gh += h
		gn += len(cs)
	}
	fmt.Println("TOTAL", gh, gn)
}
