package api

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"pawl"
	"pawl/face/fault"
	"pawl/kernel/view"
	"pawl/text/display"
	"pawl/text/message"
)

// Problem is an error (RFC 9457), with the parts that every face of pawl tells of one.
type Problem struct {
	Type   string     `json:"type" doc:"Names the kind of problem: urn:pawl:error: and the code."`
	Title  string     `json:"title" doc:"The kind of problem in words."`
	Status int        `json:"status" doc:"The HTTP status."`
	Detail string     `json:"detail" doc:"What is wrong here, for a person."`
	Code   pawl.Code  `json:"code" doc:"The reason, which never changes its meaning."`
	Class  pawl.Class `json:"class" doc:"The class of the reason."`
	Hint   string     `json:"hint,omitempty" doc:"The next step, for a person."`
	Rule   string     `json:"rule,omitempty" doc:"The row of a machine that refused."`
	Gate   string     `json:"gate,omitempty" doc:"The condition of that row that refused."`
	Trace  string     `json:"trace,omitempty" doc:"Joins the error to the records of the command."`
	// Problems are the single problems of a document or of a request.
	Problems []string `json:"problems,omitempty" doc:"The single problems of a document or of the request."`
	// Now is what waits for an answer, where one was given to something else.
	Now *view.Approval `json:"now,omitempty" doc:"What waits for an answer now, where another question was answered."`
	// Outcomes are those of the questions of a batch that was not approved in whole.
	Outcomes []BatchOutcome `json:"outcomes,omitempty" doc:"What became of each question of a batch, in their order."`
}

// Error implements error.
func (p *Problem) Error() string { return p.Detail }

// GetStatus implements huma.StatusError.
func (p *Problem) GetStatus() int { return p.Status }

// ContentType implements huma.ContentTypeFilter.
func (p *Problem) ContentType(string) string { return "application/problem+json" }

// GetHeaders implements huma.HeadersError.
func (p *Problem) GetHeaders() http.Header {
	h := http.Header{}
	if p.Status == http.StatusUnauthorized {
		h.Set("WWW-Authenticate", `Bearer realm="pawl"`)
	}
	return h
}

// problem puts an error into the form of the API.
func (s *Server) problem(err error) *Problem { return problem(s.Lang, err) }

func problem(lang message.Lang, err error) *Problem {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		err = pawl.Fail(pawl.CodeCanceled, "runner.canceled").Because(err) // nobody waits for the answer
	}
	f := fault.Of(lang, "", err)
	status := f.Code.Info().HTTP
	return &Problem{Type: "urn:pawl:error:" + string(f.Code), Title: http.StatusText(status), Status: status,
		Detail: f.Message, Code: f.Code, Class: f.Class, Hint: f.Hint, Rule: f.Rule, Gate: f.Gate, Trace: f.Trace,
		Problems: f.Problems}
}

// problemOf is what the library says of a request that it does not hand on.
func problemOf(lang message.Lang, status int, text string, details []error) *Problem {
	code := pawl.CodeInvalid
	switch {
	case status == http.StatusNotFound:
		code = pawl.CodeNotFound
	case status >= http.StatusInternalServerError:
		code = pawl.CodeInternal
	}
	var problems []string
	if text != "" && len(details) == 0 {
		problems = append(problems, display.Line(text))
	}
	for _, d := range details {
		said := fmt.Sprint(d)
		if at, ok := d.(huma.ErrorDetailer); ok {
			e := at.ErrorDetail()
			said = strings.TrimPrefix(e.Location+": "+e.Message, ": ")
		}
		problems = append(problems, display.Head(display.Line(said), 500))
	}
	title := http.StatusText(status)
	p := problem(lang, pawl.Fail(code, "api.request", cmp.Or(strings.Join(problems, "; "), title)))
	p.Status, p.Title, p.Problems = status, title, problems
	return p
}

// write answers a request with the problem.
func (p *Problem) write(w http.ResponseWriter) {
	maps.Copy(w.Header(), p.GetHeaders())
	w.Header().Set("Content-Type", p.ContentType(""))
	w.WriteHeader(p.Status)
	_ = json.NewEncoder(w).Encode(p) // who was refused need not listen
}

// nameOf names a type in the document, with its package where that is not view's. Generators of clients take away what
// is neither letter nor digit, and a name has to be another one then as well.
func nameOf(t reflect.Type, hint string) string {
	name := huma.DefaultSchemaNamer(t, hint)
	at := t
	for at.Kind() == reflect.Pointer || at.Kind() == reflect.Slice {
		at = at.Elem()
	}
	pkg := at.PkgPath()
	pkg = pkg[strings.LastIndexByte(pkg, '/')+1:]
	if at.Name() == "" || pkg == "" || pkg == "view" || pkg == "api" {
		return name
	}
	return name + "Of" + strings.ToUpper(pkg[:1]) + pkg[1:]
}
