package main

import (
	"context"

	"pawl/effect"
)

func benchIdle(context.Context, *settings, func(Result)) error    { return nil }
func benchDurable(context.Context, *settings, func(Result)) error { return nil }

func passed() *effect.VerifyResult {
	return &effect.VerifyResult{Passed: true, Tree: "t1", TreeAfter: "t1",
		Outcomes: []effect.CheckOutcome{{Check: effect.Check{Name: "doctor"}, Status: effect.CheckPassed}}}
}
