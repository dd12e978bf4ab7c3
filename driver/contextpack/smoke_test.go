package contextpack

import (
	"fmt"
	"os"
	"pawl/driver/search"
	"pawl/effect"
	"testing"
	"time"
)

func TestSmoke(t *testing.T) {
	dir := os.Getenv("CPDIR")
	if dir == "" {
		t.Skip()
	}
	b := New(Options{Walk: search.Files})
	req, _ := os.ReadFile(os.Getenv("CPREQ"))
	for range 2 {
		s := time.Now()
		p, err := b.Build(t.Context(), Ask{Place: effect.Place{Workspace: dir, Tree: dir}, Requirement: string(req), Tokens: 8000})
		if err != nil {
			t.Fatal(err)
		}
		fmt.Println(time.Since(s), p.Budget, p.Degraded)
		if os.Getenv("CPV") != "" {
			fmt.Println(p.WorkspaceSummary)
			for _, c := range p.Constraints {
				fmt.Println("C", c)
			}
			for _, h := range p.Hits {
				fmt.Println(h.Score, h.Source, h.Path, h.Lines, h.Summary)
			}
			for _, s := range p.Snippets {
				fmt.Println("S", s.Path, s.StartLine, s.EndLine, Tokens(s.Content))
			}
		}
	}
}
