// Package board is the face of the issue board (docs/spec/board.md): `pawl issue …` and `pawl worker`. It turns
// arguments into commands of the kernel, runs crews in the foreground where a command asks for work, and shows what the
// store says. It decides nothing.
package board

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"pawl"
	"pawl/face/cli"
	"pawl/face/host"
	"pawl/kernel/planning"
	"pawl/kernel/view"
)

// Entries are the commands of the first level.
func Entries() []cli.Entry {
	return []cli.Entry{
		{Name: "issue", Group: "board", Build: newIssueCommand},
		{Name: "worker", Group: "board", Build: newWorkerCommand},
		{Name: "board", Group: "board", Build: newBoardCommand},
		{Name: "pr", Group: "board", Build: newPullCommand},
	}
}

func newIssueCommand(a *cli.App) *cobra.Command {
	return a.Group("issue", "issue.root",
		newAddCommand(a), newListCommand(a), newShowCommand(a), newEditCommand(a), newImportCommand(a),
		newExportCommand(a), newSyncCommand(a),
		newPlanCommand(a), newQueueCommand(a), newExecuteCommand(a), newBindCommand(a), newRetryCommand(a),
		newSkipCommand(a),
		newCompleteCommand(a), newHistoryCommand(a), newDagCommand(a))
}

// making opens the workspace and makes it where it is missing.
func making(ctx context.Context, a *cli.App, f func(*cli.Session) error) error {
	return a.With(ctx, host.Open{Create: true}, func(sess *cli.Session) error {
		if _, err := sess.Do(ctx, &planning.Init{Place: sess.Workspace.Place}); err != nil {
			return err
		}
		return f(sess)
	})
}

// findIssues finds issues by their names; each is found once.
func findIssues(ctx context.Context, sess *cli.Session, names []string) ([]*view.Issue, error) {
	var out []*view.Issue
	seen := map[string]bool{}
	for _, name := range names {
		i, err := sess.Ask().Board().Issue(ctx, name)
		if err != nil {
			return nil, err
		}
		if !seen[i.ID] {
			seen[i.ID] = true
			out = append(out, i)
		}
	}
	return out, nil
}

// startsBatch reports whether no issue is open, so that those which are added now begin something new.
func startsBatch(ctx context.Context, sess *cli.Session) (bool, error) {
	n, err := sess.Ask().Board().Counts(ctx)
	return n.Unfinished() == 0, err
}

// checkBranch fails unless there is a branch of that name. "" is none, and fits.
func checkBranch(ctx context.Context, sess *cli.Session, name string) error {
	if name == "" {
		return nil
	}
	_, err := sess.Workspace.Branch(ctx, name)
	return err
}

// told is an error that was explained where it came up; the rest went on.
func told(errs []error) error {
	switch len(errs) {
	case 0:
		return nil
	case 1:
		return cli.Shown(errs[0])
	}
	return cli.Shown(several{errors.Join(errs...), errs})
}

// several are errors of which a program is told each, because nobody explained them to it where they came up. The first
// one says how the command ends.
type several struct {
	error
	list []error
}

func (s several) Unwrap() error { return s.error }

// Errors are the errors that have a text of their own.
func (s several) Errors() []*pawl.Error {
	var out []*pawl.Error
	for _, err := range s.list {
		var e *pawl.Error
		if errors.As(err, &e) {
			out = append(out, e)
		}
	}
	return out
}

// Rest is how many errors Errors leaves out.
func (s several) Rest() int { return len(s.list) - len(s.Errors()) }
