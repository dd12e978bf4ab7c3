package verify

import (
	"context"

	"pawl/kernel/effect"
	"pawl/text/policy"
)

// judgeChange holds what the work leaves behind against the policy, whoever wrote it (policy.JudgeTree). A change that
// cannot be judged has not passed.
func judgeChange(ctx context.Context, s *session, spec effect.VerifySpec, result *effect.VerifyResult) error {
	if s.Change == nil || spec.Base == "" || spec.Base == result.Tree {
		return nil
	}
	change, err := s.Change(ctx, s.place, spec.Base, result.Tree)
	if err != nil {
		result.Passed = false
		return err
	}
	result.Found, result.Added = policy.JudgeTree(change, s.Policy)
	return nil
}
