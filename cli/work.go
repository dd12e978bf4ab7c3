package cli

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strconv"

	"pawl"
	"pawl/kernel"
	"pawl/message"
)

// desk is an open workspace with what a command does in it.
type desk struct {
	*app
	ws  *Workspace
	cfg Config
	// rep tells of what happens; it is nil until a command works.
	rep *reporter
}

func itoa(n int) string { return strconv.Itoa(n) }

// start is the folder that the command works in.
func (a *app) start() (string, error) {
	dir := a.std.Dir
	if a.flags.dir != "" {
		dir = a.flags.dir
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(a.std.Dir, dir)
		}
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return "", pawl.Fail(pawl.CodeNotFound, "cli.no_dir", dir)
	}
	return dir, nil
}

// open opens the workspace that the command is about. Overrides put flags on top of the configuration.
func (a *app) open(ctx context.Context, o Open, overrides ...func(*Config) error) (*desk, error) {
	dir, err := a.start()
	if err != nil {
		return nil, err
	}
	place, err := a.host.Find(dir)
	if err != nil {
		return nil, err
	}
	o.Config, err = a.config(place)
	if err != nil {
		return nil, err
	}
	for _, f := range overrides {
		if err := f(&o.Config); err != nil {
			return nil, err
		}
	}
	if a.flags.lang == "" && o.Config.Lang != "" {
		a.lang = message.ParseLang(o.Config.Lang)
	}
	ws, err := a.host.Open(ctx, place, o)
	if err != nil {
		return nil, err
	}
	return &desk{app: a, ws: ws, cfg: o.Config}, nil
}

// with opens the workspace, runs f and closes it again. An error of f comes before one of closing.
func (a *app) with(ctx context.Context, o Open, f func(*desk) error, overrides ...func(*Config) error) error {
	d, err := a.open(ctx, o, overrides...)
	if err != nil {
		return err
	}
	err = f(d)
	if closed := d.ws.Close(); err == nil {
		err = closed
	}
	return err
}

// reading and writing are the two ways in which commands open a workspace that exists.
func reading() Open { return Open{ReadOnly: true} }
func writing() Open { return Open{} }

// do gives a command in the user's name.
func (d *desk) do(ctx context.Context, c kernel.Command) (kernel.Outcome, error) {
	return d.doAs(ctx, d.actor(), c)
}

// doNow gives a command after which work is to go on, so that a pause ends.
func (d *desk) doNow(ctx context.Context, c kernel.Command) error {
	if _, err := d.do(ctx, c); err != nil {
		return err
	}
	s, err := d.session(ctx)
	if err == nil && s.Paused {
		_, err = d.do(ctx, &kernel.Resume{})
	}
	return err
}

func (d *desk) doAs(ctx context.Context, by pawl.Actor, c kernel.Command) (kernel.Outcome, error) {
	return d.ws.Kernel.Do(ctx, kernel.Envelope{Actor: by, Command: c})
}

// id reads an outcome's result as an id.
func id(o kernel.Outcome) string {
	var s string
	_ = json.Unmarshal(o.Result, &s) // a result of another kind is no id
	return s
}

// own takes the right to run work. It returns the owner instead when another process has it.
func (d *desk) own() (release func(), other *Owner, err error) {
	release, err = d.ws.Own(d.commandLine())
	if err == nil {
		return release, nil, nil
	}
	if errors.Is(err, pawl.ErrBusy) {
		if o, ok := d.ws.Owner(); ok {
			return nil, &o, err
		}
	}
	return nil, nil, err
}

// mustOwn takes the right to run work, or fails with an error that names the process that has it.
func (d *desk) mustOwn() (release func(), err error) {
	release, other, err := d.own()
	if other != nil {
		return nil, pawl.Fail(pawl.CodeBusy, "cli.owned", other.PID, other.Host, d.clock(other.Started), other.Command)
	}
	return release, err
}

// warn tells what is to be known before anything else, such as a projection that was edited by hand.
func (d *desk) warn(ctx context.Context) {
	if d.ws.Warnings == nil {
		return
	}
	for _, f := range d.ws.Warnings(ctx) {
		d.note(d.style.Warn() + " " + d.finding(f))
	}
}

// finding renders a finding's message.
func (a *voice) finding(f Finding) string {
	args := make([]any, len(f.Args))
	for i, s := range f.Args {
		args[i] = s
	}
	return a.text(f.Key, args...)
}
