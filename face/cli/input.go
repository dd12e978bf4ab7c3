package cli

import (
	"io"
	"os"
	"path/filepath"

	"pawl"
	"pawl/face/cli/settings"
	"pawl/text/plan"
)

// ReadInput reads a file that the user named; "-" is the standard input.
func (a *App) ReadInput(name string, limit int64) ([]byte, error) {
	f, err := OpenInput(a, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := settings.ReadAtMost(f, name, limit)
	if err != nil && pawl.CodeOf(err) != pawl.CodeInvalid {
		err = pawl.Fail(pawl.CodeIO, "cli.file_unreadable", name).Because(err)
	}
	return data, err
}

// OpenInput opens a file that the user named; "-" is the standard input. What is no regular file is refused.
func OpenInput(a *App, name string) (io.ReadCloser, error) {
	if name == "-" {
		return io.NopCloser(a.stdin), nil
	}
	f, err := settings.Open(a.Path(name))
	switch {
	case err == nil:
		return f, nil
	case os.IsNotExist(err):
		return nil, pawl.Fail(pawl.CodeNotFound, "cli.file_missing", name)
	case pawl.CodeOf(err) == pawl.CodeInvalid:
		return nil, err
	}
	return nil, pawl.Fail(pawl.CodeIO, "cli.file_unreadable", name).Because(err)
}

// Path makes a name that the user typed absolute.
func (a *App) Path(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(a.Std.Dir, name)
}

// WriteNew writes a new file that the user named. An existing one is not overwritten.
func (a *App) WriteNew(name string, write func(io.Writer) error) error {
	f, err := os.OpenFile(a.Path(name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if os.IsExist(err) {
		return pawl.Fail(pawl.CodeConflict, "cli.file_exists", name)
	}
	if err != nil {
		return pawl.Fail(pawl.CodeIO, "cli.file_unwritable", name).Because(err)
	}
	err = write(f)
	if closed := f.Close(); err == nil {
		err = closed
	}
	return err
}

// PlanFile is a plan as a file gave it.
type PlanFile struct {
	plan.Plan
	// At says where in the file a part of the plan stands, and Data is the file as it is.
	At   plan.Positions
	Data []byte
}

// ReadPlan reads a plan file and checks its form, its graph, its tools and their arguments, so that a mistake in it
// costs nothing and is shown with its line.
func ReadPlan(a *App, name string) (PlanFile, error) {
	f, err := ReadSteps(a, name)
	if err != nil {
		return f, err
	}
	schemas := map[string][]byte{}
	limits := plan.DefaultLimits()
	for _, t := range a.Host.Tools() {
		schemas[t.Info.Name] = t.Info.ArgsSchema
		limits.Tools = append(limits.Tools, t.Info.Name)
	}
	if place, err := a.Found(); err == nil {
		c, err := settings.Load(a.Std.Env, place.Workspace)
		if err != nil {
			return f, err
		}
		limits.MaxSteps = c.MaxPlanSteps
	}
	tool := func(name string) ([]byte, bool) { s, ok := schemas[name]; return s, ok }
	return f, f.At.Locate(plan.Check(f.Plan, tool, limits))
}

// ReadSteps reads a plan file and checks its form alone: steps that are added to a plan may depend on steps that only
// that plan has.
func ReadSteps(a *App, name string) (f PlanFile, err error) {
	if f.Data, err = a.ReadInput(name, plan.MaxBytes); err == nil {
		f.Plan, f.At, err = plan.Decode(name, f.Data)
	}
	return f, err
}
