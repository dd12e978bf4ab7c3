// Package compound holds the effects that several drivers carry out together: the facts about a place with a context
// pack and the tree of its commit, checks on the commit that the work started from, looking at a branch that is not
// checked out, the cleanup of all that a task has, and agents that are shown what they need.
package compound

import (
	"context"

	"pawl/agent"
	"pawl/driver/contextpack"
	"pawl/driver/verify"
	"pawl/kernel/effect"
	"pawl/sandbox/git"
	"pawl/sandbox/git/layout"
)

// Packer builds context packs; contextpack.Builder is one.
type Packer interface {
	Build(ctx context.Context, a contextpack.Ask) (effect.ContextPack, error)
}

// Context adds the tree of its commit to the facts about a place (driver/verify), and a context pack where one is asked
// for.
type Context struct {
	*verify.Context
	packs Packer
	branches
}

// NewContext returns the driver that looks at places of a machine, with packs by packs. It shares what m remembers.
func NewContext(machine verify.Host, packs Packer, m *git.Memory) Context {
	return Context{verify.NewContext(machine, verify.OpenDir, Status(m)).Inspecting(layout.Inspect), packs, branches{m}}
}

// Do finds the facts and builds the pack. A pack that cannot be built is left out and said so in it: planning without
// it is worse, and possible.
func (d Context) Do(ctx context.Context, e effect.Effect, progress effect.Progress) effect.Receipt {
	spec, err := effect.Decode[effect.ContextSpec](e.Spec)
	if err != nil {
		return effect.Failed(err)
	}
	tip, err := d.enter(ctx, &e, spec.Branch)
	if tip != "" {
		defer d.leave(ctx, e.Place)
	}
	if err != nil {
		return effect.Failed(err)
	}
	r := d.Context.Do(ctx, e, progress)
	if r.OK && tip != "" {
		r = standsAt(r, tip, spec.Branch)
	}
	if !r.OK {
		return r
	}
	facts, err := effect.Decode[effect.ContextResult](r.Result)
	if err != nil {
		return r
	}
	facts.Tree = treeOf(ctx, d.memory, e.Place, facts.Head)
	if spec.Tokens > 0 {
		pack, err := d.packs.Build(ctx, contextpack.Ask{Place: e.Place, Requirement: spec.Requirement,
			Said: saidOf(spec), Tokens: spec.Tokens})
		if err != nil {
			pack.Degraded = append(pack.Degraded, "context.no_pack")
		}
		facts.Pack = &pack
	}
	done := effect.Succeeded(facts)
	done.Start, done.End, done.Attempts = r.Start, r.End, r.Attempts
	return done
}

// treeOf is the tree of the commit that work starts from, "" where it cannot be told: nothing is known of it then.
func treeOf(ctx context.Context, m *git.Memory, place effect.Place, head string) string {
	if head == "" {
		return ""
	}
	repo, err := m.Open(ctx, layout.Of(place))
	if err != nil {
		return ""
	}
	tree, err := repo.Objects.ResolveTree(ctx, head)
	if err != nil {
		return ""
	}
	return tree
}

// Status returns what tells the context driver what git says of a place, and refuses one that work cannot start from.
func Status(m *git.Memory) verify.Status {
	return func(ctx context.Context, place effect.Place) (head, branch string, dirty []string, err error) {
		if !place.Git {
			return "", "", nil, nil
		}
		repo, err := m.Open(ctx, layout.Of(place))
		if err != nil {
			return "", "", nil, err
		}
		s, err := repo.Status(ctx)
		if err == nil {
			err = s.Ready()
		}
		if err != nil {
			return "", "", nil, err
		}
		return s.Head, s.Branch, s.Dirty, nil
	}
}

// saidOf is what the person said of a requirement besides it: the newest feedback first, and the answers.
func saidOf(spec effect.ContextSpec) []string {
	var out []string
	for i := len(spec.Feedback) - 1; i >= 0; i-- {
		out = append(out, spec.Feedback[i])
	}
	for _, a := range spec.Answers {
		if a.Answer != "" {
			out = append(out, agent.Asked(a)+"\n"+a.Answer)
		}
	}
	return out
}
