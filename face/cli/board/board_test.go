package board

import (
	"bytes"
	"context"
	"encoding/json"
	"testing"

	"github.com/spf13/cobra"

	"pawl"
	"pawl/face/cli"
	"pawl/face/host"
)

// TestToldTellsProgramsEverything has a command fail for several issues: a program is told of each, and the first says
// how the command ends.
func TestToldTellsProgramsEverything(t *testing.T) {
	errs := []error{
		pawl.Fail(pawl.CodeBusy, "kernel.issue_taken", "ISS-1", "w1"),
		pawl.Fail(pawl.CodeBlocked, "kernel.issue_paused", "ISS-2"),
	}
	fails := cli.Entry{Name: "fails", Group: "board", Build: func(a *cli.App) *cobra.Command {
		return a.Command("fails", "issue.skip", "", cobra.NoArgs,
			func(*cobra.Command, []string) error { return told(errs) })
	}}
	for most := range errs {
		list := errs
		errs = errs[:most+1]
		var out bytes.Buffer
		status := cli.Main(context.Background(), nil, host.Streams{Out: &out, Err: &out}, []string{"fails", "--json"},
			fails)
		var got struct {
			Error struct {
				Code     pawl.Code
				Message  string
				Problems []string
			}
		}
		if err := json.Unmarshal(out.Bytes(), &got); err != nil {
			t.Fatalf("%v\n%s", err, out.String())
		}
		if e := got.Error; status != pawl.CodeBusy.Info().Exit || e.Code != pawl.CodeBusy || e.Message == "" ||
			len(errs) > 1 && len(e.Problems) != len(errs) {
			t.Errorf("%d errors: exit status %d\n%s", len(errs), status, out.String())
		}
		errs = list
	}
}
