package web

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/a-h/templ"

	"pawl"
	"pawl/kernel"
	"pawl/kernel/approval"
	"pawl/kernel/planning"
	"pawl/kernel/recovery"
	"pawl/kernel/view"
)

// maxCommented bounds how many lines one comment may be about.
const maxCommented = 200

// revision is the command that sends what waits back with words, nil where that cannot be done.
func (d *decision) revision(words string) kernel.Command {
	switch d.About {
	case "plan":
		return &planning.Revise{Feedback: words}
	case kernel.AboutProof, kernel.AboutChecks:
		return &approval.Deny{Reason: words}
	case view.AboutUnproven:
		if slices.ContainsFunc(d.Need.Next, view.Next.Heard) {
			return &recovery.Fix{Note: words, Tree: d.Tree}
		}
	}
	return nil
}

// diff shows what a run changed. While that waits for a word, its lines can be answered.
func (s *decider) diff(ctx context.Context, p *page, r *http.Request) (templ.Component, error) {
	report, err := s.read.report(ctx, p, r)
	if err != nil {
		return nil, err
	}
	if report.State != "" {
		d, err := s.decision(ctx, report.Issue)
		if err != nil {
			return nil, err
		}
		if d != nil && d.Report.ID == report.ID && d.revision("") != nil && len(d.Files) > 0 {
			return diffView(p, report, d.Files, d), s.show(ctx, p, d)
		}
	}
	files, err := s.read.diffOf(ctx, report)
	return diffView(p, report, files, nil), err
}

// commented sends back what waits, with what a person said of lines of it.
func (s *decider) commented(ctx context.Context, p *page, r *http.Request) (templ.Component, error) {
	p.here = "now"
	form := r.PostForm
	was, ok := s.shown.use(form.Get("nonce"), p.visit)
	if !ok || was.digest != form.Get("digest") || was.issue != form.Get("issue") {
		return s.refuse(ctx, p, seen{issue: form.Get("issue"), digest: was.digest, lines: was.lines}, "web.refused.used")
	}
	d, err := s.decision(ctx, was.issue)
	if err != nil {
		return nil, err
	}
	if d == nil || d.Digest != was.digest || d.About != was.about || d.Report.Changes.To != form.Get("tree") {
		return s.refuse(ctx, p, was, "web.refused.changed")
	}
	words, err := d.comment(form["line"], form.Get("reason"))
	if err != nil {
		return nil, err
	}
	command := d.revision(words)
	if command == nil {
		return nil, pawl.Fail(pawl.CodeInvalidTransition, "web.comment_late")
	}
	err = s.give(ctx, p, was.issue, d.given(command), false)
	switch pawl.CodeOf(err) {
	case pawl.CodeApprovalStale, pawl.CodeChanged, pawl.CodeConflict:
		return s.refuse(ctx, p, was, "web.refused.changed")
	}
	p.next = with("/", "done", "revise")
	return nil, err
}

// comment is what a person says of lines, each with its file, its number and what it says.
func (d *decision) comment(lines []string, words string) (string, error) {
	words = strings.TrimSpace(words)
	switch {
	case words == "":
		return "", pawl.Fail(pawl.CodeInvalid, "cli.revise_nothing")
	case len(lines) > maxCommented:
		return "", pawl.Fail(pawl.CodeInvalid, "web.comment_lines", maxCommented)
	}
	var b strings.Builder
	for _, name := range lines {
		f, r, _ := strings.Cut(name, ".")
		file, err := strconv.Atoi(f)
		row, err2 := strconv.Atoi(r)
		if err != nil || err2 != nil || file < 0 || file >= len(d.Files) || row < 0 || row >= len(d.Files[file].Rows) {
			return "", pawl.Fail(pawl.CodeInvalid, "web.comment_line", line(name))
		}
		at := d.Files[file].Rows[row]
		number := at.New
		if at.Sign == '-' {
			number = at.Old
		}
		b.WriteString(d.Files[file].Path + ":" + strconv.Itoa(number) + ": " + sign(at.Sign) + at.Text + "\n")
	}
	return b.String() + words, nil
}

// lineName names a line of a diff in a form.
func lineName(file, row int) string { return strconv.Itoa(file) + "." + strconv.Itoa(row) }
