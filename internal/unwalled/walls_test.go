//go:build linux

package main

import "testing"

func TestWallsCanBeTakenAway(t *testing.T) {
	t.Chdir("../..")
	if len(walls) < 10 {
		t.Errorf("%d walls", len(walls))
	}
	for _, w := range walls {
		if err := w.Check(); err != nil {
			t.Error(err)
		}
	}
}
