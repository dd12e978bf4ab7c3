package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"pawl/face/fault"
	"pawl/face/give"
	"pawl/face/host"
	"pawl/text/shell"

	"pawl"
	"pawl/face/cli/settings"
	"pawl/face/cli/term"
	"pawl/face/person"
	"pawl/face/tui"
	"pawl/kernel"
	"pawl/kernel/effect"
	"pawl/kernel/query"
	"pawl/kernel/view"
	"pawl/text/message"
)

// Session is what a command speaks of: an open workspace, and in it the session of the person who sits there or that of
// an issue.
type Session struct {
	*Printer  // that of App
	App       *App
	Workspace *host.Workspace
	Config    settings.Config
	// rep tells of what happens; it is nil until a command works.
	rep *Reporter
	// issue is the issue whose session commands speak of, nil for that of the person who sits here.
	issue *view.Issue
}

// startFolder is the folder that the command works in.
func startFolder(a *App) (string, error) {
	dir := cmp.Or(a.Flags.dir, a.Std.Dir)
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(a.Std.Dir, dir)
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return "", pawl.Fail(pawl.CodeNotFound, "cli.no_dir", dir)
	}
	return dir, nil
}

// Found is the workspace's place, without opening it.
func (a *App) Found() (effect.Place, error) {
	dir, err := startFolder(a)
	if err != nil {
		return effect.Place{}, err
	}
	return a.Host.Find(dir)
}

// Configured is that place with the settings that hold there, and sets the language that they name.
func (a *App) Configured() (effect.Place, settings.Config, error) {
	place, err := a.Found()
	if err != nil {
		return place, settings.Config{}, err
	}
	told := len(a.config.Ignored)
	a.config, err = settings.Load(a.Std.Env, place.Workspace)
	if a.Flags.lang == "" && a.config.Lang != "" {
		a.Lang = message.ParseLang(a.config.Lang)
	}
	for _, ignored := range a.config.Ignored[min(told, len(a.config.Ignored)):] {
		Remark(a.Printer, ignored)
	}
	return place, a.config, err
}

// Open opens the workspace that the command is about. Overrides put flags on top of the configuration.
func (a *App) Open(ctx context.Context, o host.Open, overrides ...func(*settings.Config) error) (*Session, error) {
	place, config, err := a.Configured()
	if err != nil {
		return nil, err
	}
	o.Config = config
	for _, f := range overrides {
		if err := f(&o.Config); err != nil {
			return nil, err
		}
	}
	a.Screen.Lang, a.Screen.Notice = a.Lang, tui.Notice(o.Config.Notify)
	sess := &Session{Printer: a.Printer, App: a, Config: o.Config}
	o.Tell = func(why error) { Remark(a.Printer, why) }
	o.Lang, o.Looks = a.Lang, a.Present() && !o.Unseen
	made, err := settleFolder(ctx, a, place, o)
	if err != nil {
		return nil, err
	}
	undo, own := shell.Quote(place.State), filepath.Join(place.Workspace, ".pawl")
	if _, err := os.Lstat(own); err != nil { // one that is there has files of the user's
		undo = shell.Quote(own) + " " + undo
	}
	ws, err := a.Host.Open(ctx, place, o)
	if err != nil {
		return nil, err
	}
	sess.Workspace = ws
	ws.Kernel.OnCommit(func(kernel.Outcome) { a.did.Store(true) })
	for _, f := range ws.Said {
		a.Note(a.Style.Warn() + " " + FindingText(a.Printer, f))
	}
	if made {
		a.Note(a.Text("cli.workspace_made", place.Workspace, undo))
	}
	if a.Flags.issue != "" {
		i, err := sess.Ask().Board().Issue(ctx, a.Flags.issue)
		if err != nil {
			return nil, errors.Join(err, ws.Close())
		}
		sess.Enter(i)
	}
	return sess, nil
}

// settleFolder makes sure that a folder which is no workspace yet is meant to become one, and reports whether that is
// to be told. The top of a git repository is; of another folder a person is asked, and where nobody can be, it is
// refused.
func settleFolder(ctx context.Context, a *App, place effect.Place, o host.Open) (made bool, err error) {
	h, ok := a.Host.(host.Founder)
	if !ok || !o.Create || o.Meant {
		return false, nil
	}
	s := h.Footing(place)
	switch {
	case s.Exists:
		return false, nil
	case s.Doubt == "" || a.Flags.init || s.Doubt == "plain" && o.Sure:
		return true, nil
	}
	key := "cli.workspace_" + s.Doubt
	args := []any{place.Workspace}
	switch s.Doubt {
	case "many":
		args = append(args, s.Projects, s.Other)
	case "below", "moved", "in_tree":
		args = append(args, shell.Quote(s.Other))
	}
	if !a.Present() {
		return false, pawl.Fail(pawl.CodeNotFound, key, args...)
	}
	a.Say(a.Text(key, args...))
	adopt := s.Doubt == "moved" || s.Doubt == "in_tree"
	ask := "cli.workspace_ask"
	if adopt {
		ask = "cli.workspace_adopt_ask"
	}
	yes, err := Confirm(ctx, a.Printer, a.Text(ask))
	if err == nil && yes && adopt {
		return false, h.Adopt(ctx, place, s.Other, false)
	}
	if err == nil && !yes {
		err = Shown(pawl.Fail(pawl.CodeUserDenied, "cli.ended", "declined"))
	}
	return yes, err
}

// Elsewhere is the same call of the program in another folder, about the session of the person there.
func Elsewhere(a *App, dir string) *App {
	b := newApp(a.Host, a.Std, a.Args)
	b.Flags, b.Lang, b.JSON = a.Flags, a.Lang, a.JSON
	b.Flags.dir, b.Flags.issue = dir, ""
	return b
}

// With opens the workspace, runs f and closes it again. An error of f comes before one of closing.
func (a *App) With(ctx context.Context, o host.Open, f func(*Session) error,
	overrides ...func(*settings.Config) error) error {
	sess, err := a.Open(ctx, o, overrides...)
	if err != nil {
		return err
	}
	err = f(sess)
	if sess.Workspace.Holds != nil && err != nil {
		// Whatever it failed for, this is why.
		if gone := sess.Workspace.Holds(); gone != nil {
			err = gone
		}
	}
	if closed := sess.Workspace.Close(); err == nil {
		err = closed
	}
	return err
}

// Reading and writing are the two ways in which commands open a workspace that exists.
func Reading() host.Open { return host.Open{ReadOnly: true} }
func Writing() host.Open { return host.Open{} }

// Do gives a command in the user's name.
func (sess *Session) Do(ctx context.Context, c kernel.Command) (kernel.Outcome, error) {
	return sess.DoAs(ctx, sess.App.Actor(), c)
}

// DoNow gives a command after which work is to go on, so that a pause ends.
func DoNow(ctx context.Context, sess *Session, c kernel.Command) error {
	Warn(ctx, sess) // before what is written over
	_, err := sess.to().Now(ctx, kernel.Envelope{Actor: sess.App.Actor(), Command: c})
	return err
}

// keyed reports whether a person says by their key what they have to say here.
func (sess *Session) keyed() bool {
	return sess.Workspace.Sign != nil && sess.App.Actor().Kind() == pawl.KindAutomation
}

// DoAs gives a command in the name of somebody else.
func (sess *Session) DoAs(ctx context.Context, by pawl.Actor, c kernel.Command) (kernel.Outcome, error) {
	Warn(ctx, sess) // before what is written over
	return sess.to().Do(ctx, kernel.Envelope{Actor: by, Command: c})
}

func (sess *Session) to() give.To {
	return give.To{Kernel: sess.Workspace.Kernel, Packages: sess.Workspace.Project.Packages, Sign: sess.Workspace.Sign,
		Person: pawl.By(pawl.KindUser, person.Account(sess.Std.Env))}
}

// ID reads an outcome's result as an id.
func ID(o kernel.Outcome) string {
	var s string
	_ = json.Unmarshal(o.Result, &s) // a result of another kind is no id
	return s
}

// Own takes the right to run work. It returns the owner instead when another process has it.
func (sess *Session) Own() (release func(), other *host.Owner, err error) {
	release, err = sess.Workspace.Own("pawl " + strings.Join(sess.App.Args, " "))
	if errors.Is(err, pawl.ErrBusy) {
		if o, ok := sess.Workspace.Owner(); ok {
			return nil, &o, err
		}
	}
	return release, nil, err
}

// Working says which processes work in the workspace.
func (sess *Session) Working() query.Working {
	return query.Working{Owner: sess.Workspace.Worker, Alive: sess.Workspace.Alive}
}

// MustOwn takes the right to run work, or fails with an error that names the process that has it.
func (sess *Session) MustOwn() (release func(), err error) {
	release, other, err := sess.Own()
	if other != nil {
		if err := Halted(sess, other); err != nil {
			return nil, err
		}
		return nil, pawl.Fail(pawl.CodeBusy, "cli.owned", other.PID, other.Host, sess.Clock(other.Started),
			other.Command)
	}
	return release, err
}

// Halted returns an error that says what to do about another process that has the work and does not go on by itself,
// nil for one that does.
func Halted(sess *Session, other *host.Owner) error {
	if other.State == "" {
		return nil
	}
	return pawl.Fail(pawl.CodeBusy, "cli.owner_halted", other.PID, other.Host, sess.Clock(other.Started), other.Command)
}

// Warn tells what is to be known before anything else, such as a projection that was edited by hand, once.
func Warn(ctx context.Context, sess *Session) {
	if sess.Workspace.Warnings == nil || sess.App.warned.Swap(true) {
		return
	}
	for _, f := range sess.Workspace.Warnings(ctx) {
		sess.Note(sess.Style.Warn() + " " + FindingText(sess.Printer, f))
	}
}

// Remark tells what the work waits for, or what was left undone. It may be called from any goroutine.
func Remark(pr *Printer, why error) {
	f := Describe(pr, why)
	if pr.JSON {
		raw, _ := json.Marshal(map[string]fault.Fault{"warning": f})
		_, _ = pr.Std.Err.Write(append(raw, '\n'))
		return
	}
	text := pr.Style.Warn() + " " + fold(pr, f.Message, 2, 2)
	if f.Hint != "" {
		next := pr.Text("cli.next")
		text += "\n  " + pr.Style.Cyan(next) + fold(pr, f.Hint, 4, term.Width(next)-2)
	}
	aside(pr, text)
}

// FindingText renders a finding's message.
func FindingText(pr *Printer, f host.Finding) string {
	return pr.Text(f.Key, Args(f.Args)...)
}

// Ask asks about the workspace.
func (sess *Session) Ask() query.Reader { return query.Of(sess.Workspace.Kernel) }

// lookRun reads a run with all that belongs to it: the one that the session is at, or the newest one that ended. The
// snapshot has no run when the id names neither.
func lookRun(ctx context.Context, sess *Session, id string) (*kernel.Snapshot, error) {
	s, err := sess.Workspace.Kernel.Snapshot(ctx)
	if err != nil || id == "" || s.Run != nil && s.Run.ID == id && s.Session.Run == id {
		return s, err
	}
	last, err := sess.Workspace.Kernel.LastRun(ctx)
	if err != nil {
		return nil, err
	}
	if last.Run != nil && last.Run.ID != id {
		last.Run = nil
	}
	return last, nil
}

// lastRun is the id of the run that the session is at, or of the newest one, "" when there was none.
func lastRun(ctx context.Context, sess *Session) (string, error) {
	s, err := sess.View(ctx)
	if err != nil {
		return "", err
	}
	return sess.Ask().LastRun(ctx, s)
}

// Label is that of the session that the command speaks of.
func (sess *Session) Label() string {
	if sess.issue != nil {
		return sess.issue.Label
	}
	return kernel.SessionLabel
}

// View tells where that session stands, or fails where there is none.
func (sess *Session) View(ctx context.Context) (view.Session, error) {
	return sess.Ask().Session(ctx, sess.Label())
}

// Enter has the commands that follow speak of an issue's session.
func (sess *Session) Enter(i *view.Issue) {
	sess.issue, sess.Printer.issue, sess.Workspace.Kernel = i, i.Label, sess.Workspace.Kernel.Session(i.Label)
}

// FindTask finds a task by its ULID or its label; T-1, t-001 and 1 mean T-001. An unknown one is a not_found error that
// names the nearest.
func FindTask(ctx context.Context, sess *Session, given string) (*kernel.Snapshot, error) {
	want := query.TaskLabel(given)
	s, err := sess.Workspace.Kernel.TaskSnapshot(ctx, want)
	if pawl.CodeOf(err) != pawl.CodeNotFound {
		return s, err
	}
	return nil, sess.Ask().NoTask(ctx, given, want)
}

// WorkPlace says where the work happens. Without git there is no other place than the folder itself.
func WorkPlace(p effect.Place, inPlace bool) effect.Place {
	p.Tree = p.Workspace
	p.InPlace = inPlace || !p.Git
	return p
}

// InIssue has f speak of an issue's session.
func InIssue(sess *Session, i *view.Issue, f func(*Session) error) error {
	defer func(before string) { sess.Printer.issue = before }(sess.Printer.issue)
	at, ws := *sess, *sess.Workspace
	at.Workspace, at.rep = &ws, nil
	at.Enter(i)
	return f(&at)
}
