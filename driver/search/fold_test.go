package search

import (
	"strings"
	"testing"
)

func TestContainsFold(t *testing.T) {
	for n := 16<<10 - 8; n < 16<<10+8; n++ {
		if !containsFold([]byte(strings.Repeat("x", n)+"NeeDLe"+strings.Repeat("x", n)), "needle") {
			t.Errorf("not found at %d", n)
		}
	}
	if containsFold([]byte("need"), "needle") || containsFold([]byte(strings.Repeat("needl", 9000)), "needle") {
		t.Error("found what is not there")
	}
}
