package main

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"pawl/sandbox"
)

// Commands that do nothing, started one after the other with a pause, as a run of pawl starts its own.
const (
	floorRounds = 40
	floorPause  = 50 * time.Millisecond
)

// benchFloor measures how long a command takes to start and end on the floor, beside one in namespaces of its own.
func benchFloor(ctx context.Context, s *settings, emit func(Result)) error {
	dir := filepath.Join(s.dir, "floor")
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	spec := sandbox.Spec{Argv: []string{"/bin/true"}, Dir: dir, Writable: []string{dir},
		Env: sandbox.Environ(os.Environ(), nil)}
	for _, ready := range []bool{false, true} {
		name := "a command without namespaces"
		if ready {
			name += ", launcher ready"
		}
		s.say("%s", name)
		var times [2][]float64
		var boxes [2]*sandbox.Box
		for i, m := range []sandbox.Mechanism{sandbox.MechanismLandlock, sandbox.MechanismNamespaces} {
			var err error
			if boxes[i], err = sandbox.New(sandbox.Options{Mechanism: m, Ready: ready}); err != nil {
				return err
			}
			defer boxes[i].Close()
			if _, err := boxes[i].Run(ctx, spec); err != nil { // tries the walls, which is done once
				return err
			}
		}
		for range floorRounds {
			for i, b := range boxes {
				time.Sleep(floorPause)
				start := time.Now()
				if _, err := b.Run(ctx, spec); err != nil {
					return err
				}
				times[i] = append(times[i], float64(time.Since(start)))
			}
		}
		own, yard := median(times[0]), median(times[1])
		emit(Result{Case: name, Pawl: tookNanos(own), Beside: tookNanos(yard), Yardstick: "in namespaces",
			Score: own / yard, Unit: "×", Goal: 1, AtMost: true})
	}
	return nil
}
