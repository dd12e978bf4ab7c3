package agent_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"pawl"
	"pawl/agent"
	"pawl/agent/externaltest"
	"pawl/kernel/effect"
)

// TestNoModelIsNamed: a program that has a model of its own choice works without one, and is not told of any; the
// others are refused before anything is started.
func TestNoModelIsNamed(t *testing.T) {
	for _, p := range agent.Catalog() {
		dir := t.TempDir()
		var ran agent.Program
		c := agent.External{Program: p, Path: "/bin/true"}
		e := effect.Effect{ID: "01J", Kind: effect.KindWork, Place: effect.Place{Workspace: dir, Tree: dir},
			Spec: effect.Encode(effect.WorkSpec{Goal: "g"})}
		r := c.Do(t.Context(), e, &externaltest.Host{Tree: dir}, nil,
			func(_ context.Context, j *agent.Job) (effect.WorkResult, error) {
				ran = j.External.Program
				return effect.WorkResult{}, nil
			})
		if !p.Chooses {
			if r.Code != pawl.CodeEnvironment || ran.Name != "" {
				t.Errorf("%s: %v", p.Name, r.Err())
			}
			continue
		}
		if !r.OK {
			t.Errorf("%s: %v", p.Name, r.Err())
		}
		if told := fmt.Sprint(ran.Args, ran.Resume, ran.Env, ran.Files); strings.Contains(told, "{model}") ||
			strings.Contains(told, "-m ") || strings.Contains(told, "--model") {
			t.Errorf("%s is told: %s", p.Name, told)
		}
	}
}
