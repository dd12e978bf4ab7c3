package pawl

import (
	"errors"
	"fmt"
	"strings"
)

// Class is the failure class (docs/spec/turn.md#s5-1), the coarse half of an error's identity. Classes are append-only.
type Class string

// The seven classes of docs/spec/turn.md#s5-1 and the two that the product adds (docs/spec/turn.md#b12).
const (
	ClassPolicyDenied Class = "E_POLICY_DENIED"
	ClassIO           Class = "E_IO"
	ClassToolTimeout  Class = "E_TOOL_TIMEOUT"
	ClassInvalidArgs  Class = "E_INVALID_ARGS"
	ClassConflict     Class = "E_CONFLICT"
	ClassBuildFail    Class = "E_BUILD_FAIL"
	ClassModel        Class = "E_MODEL"
	ClassCanceled     Class = "E_CANCELED"
	ClassInternal     Class = "E_INTERNAL"
)

// Code is the exact reason within a class. Codes are stable, append-only and never translated; people and programs
// match on them, never on text.
type Code string

// Every code, with its class and exit status in codeTable.
const (
	CodeUsage             Code = "usage"
	CodeInvalid           Code = "invalid"
	CodeNotFound          Code = "not_found"
	CodeInvalidTransition Code = "invalid_transition"
	CodeAlreadyInState    Code = "already_in_state"
	CodeRetryNotAllowed   Code = "retry_not_allowed"
	CodeModeViolation     Code = "mode_violation"
	CodeGate              Code = "gate_refused"
	CodeDenied            Code = "denied"
	CodeUserDenied        Code = "user_denied"
	CodeApprovalNeeded    Code = "approval_needed"
	CodeApprovalStale     Code = "approval_stale"
	CodeConflict          Code = "conflict"
	CodeChanged           Code = "changed"
	CodeGone              Code = "gone"
	CodeFenced            Code = "fenced"
	CodeBusy              Code = "busy"
	CodeBlocked           Code = "blocked"
	CodeTimeout           Code = "timeout"
	CodeOutcomeUnknown    Code = "outcome_unknown"
	CodeIO                Code = "io"
	CodeDiskFull          Code = "disk_full"
	CodeReadOnly          Code = "read_only"
	CodeEnvironment       Code = "environment"
	CodeSandbox           Code = "sandbox_unavailable"
	CodeStoreNewer        Code = "store_newer"
	CodeStoreForeign      Code = "store_foreign"
	CodeStoreDamaged      Code = "store_damaged"
	CodeAuditBroken       Code = "audit_broken"
	CodeRepository        Code = "repository"
	CodeBuildFail         Code = "build_fail"
	CodeChecksFailed      Code = "checks_failed"
	CodeModel             Code = "model"
	CodeLogin             Code = "login"
	CodeCannotPlan        Code = "cannot_plan"
	CodeWorkOrder         Code = "work_order"
	CodeBudget            Code = "budget"
	CodeLoop              Code = "loop"
	CodeCanceled          Code = "canceled"
	CodeInternal          Code = "internal"
)

// CodeInfo is what the one code table says of a code.
type CodeInfo struct {
	Class Class
	Exit  int // exit status of the command line (docs/exit-codes.md)
	HTTP  int // status of the HTTP faces
}

// codeTable maps each code to its class, its exit status and its HTTP status. It is the only such mapping.
var codeTable = map[Code]CodeInfo{
	CodeUsage:             {ClassInvalidArgs, 2, 400},
	CodeInvalid:           {ClassInvalidArgs, 13, 422},
	CodeNotFound:          {ClassInvalidArgs, 3, 404},
	CodeInvalidTransition: {ClassConflict, 4, 409},
	CodeAlreadyInState:    {ClassConflict, 4, 409},
	CodeRetryNotAllowed:   {ClassConflict, 4, 409},
	CodeModeViolation:     {ClassPolicyDenied, 4, 409},
	CodeGate:              {ClassConflict, 4, 409},
	CodeDenied:            {ClassPolicyDenied, 5, 403},
	CodeUserDenied:        {ClassPolicyDenied, 5, 403},
	CodeApprovalNeeded:    {ClassPolicyDenied, 9, 409},
	CodeApprovalStale:     {ClassConflict, 6, 409},
	CodeConflict:          {ClassConflict, 6, 409},
	CodeChanged:           {ClassConflict, 6, 412},
	CodeGone:              {ClassInvalidArgs, 3, 410},
	CodeFenced:            {ClassConflict, 6, 409},
	CodeBusy:              {ClassConflict, 7, 423},
	CodeBlocked:           {ClassConflict, 8, 409},
	CodeTimeout:           {ClassToolTimeout, 1, 504},
	CodeOutcomeUnknown:    {ClassIO, 6, 503},
	CodeIO:                {ClassIO, 10, 500},
	CodeDiskFull:          {ClassIO, 10, 507},
	CodeReadOnly:          {ClassIO, 10, 500},
	CodeEnvironment:       {ClassIO, 10, 500},
	CodeSandbox:           {ClassPolicyDenied, 10, 500},
	CodeStoreNewer:        {ClassIO, 11, 500},
	CodeStoreForeign:      {ClassIO, 11, 500},
	CodeStoreDamaged:      {ClassIO, 11, 500},
	CodeAuditBroken:       {ClassIO, 11, 500},
	CodeRepository:        {ClassConflict, 10, 409},
	CodeBuildFail:         {ClassBuildFail, 1, 422},
	CodeChecksFailed:      {ClassBuildFail, 1, 422},
	CodeModel:             {ClassModel, 1, 502},
	CodeLogin:             {ClassModel, 10, 401},
	CodeCannotPlan:        {ClassModel, 14, 422},
	CodeWorkOrder:         {ClassBuildFail, 15, 422},
	CodeBudget:            {ClassPolicyDenied, 8, 429},
	CodeLoop:              {ClassPolicyDenied, 8, 409},
	CodeCanceled:          {ClassCanceled, 12, 409},
	CodeInternal:          {ClassInternal, 70, 500},
}

// Info returns what the table says of c. A code that is not in the table is treated as internal.
func (c Code) Info() CodeInfo {
	if info, ok := codeTable[c]; ok {
		return info
	}
	return codeTable[CodeInternal]
}

// Codes returns every code of the table, in no particular order.
func Codes() []Code {
	out := make([]Code, 0, len(codeTable))
	for c := range codeTable {
		out = append(out, c)
	}
	return out
}

// Error is the one error type of pawl. It carries a code for programs and a message key with arguments for people; the
// message catalogue (package message) holds the text and the hint with the next step, in every language. Error() is the
// technical form for logs.
type Error struct {
	Code Code
	// Key names the entry of the message catalogue; Args fill its placeholders in order.
	Key  string
	Args []any
	// Op is the operation that failed, as "package.verb".
	Op string
	// Rule and Gate name the row and the gate that refused, where one did.
	Rule string
	Gate string
	// Trace joins the error to the records of the command that raised it.
	Trace string
	// Err is the cause, or nil.
	Err error
}

// Fail returns an error with a code and the key and arguments of its message.
func Fail(code Code, key string, args ...any) *Error {
	return &Error{Code: code, Key: key, Args: args}
}

// In returns a copy of e that names the operation.
func (e *Error) In(op string) *Error { c := *e; c.Op = op; return &c }

// At returns a copy of e that names the rule, and the gate where one refused.
func (e *Error) At(rule, gate string) *Error { c := *e; c.Rule, c.Gate = rule, gate; return &c }

// Because returns a copy of e that wraps its cause.
func (e *Error) Because(err error) *Error { c := *e; c.Err = err; return &c }

// Traced returns a copy of e with a trace id.
func (e *Error) Traced(id string) *Error { c := *e; c.Trace = id; return &c }

// Class returns the seed's failure class of the error's code.
func (e *Error) Class() Class { return e.Code.Info().Class }

// Error returns the technical form: operation, code, key, arguments, rule, gate and cause.
func (e *Error) Error() string {
	var b strings.Builder
	if e.Op != "" {
		b.WriteString(e.Op + ": ")
	}
	b.WriteString(string(e.Class()) + "/" + string(e.Code) + " " + e.Key)
	for _, a := range e.Args {
		fmt.Fprintf(&b, " %v", a)
	}
	if e.Rule != "" {
		b.WriteString(" rule=" + e.Rule)
	}
	if e.Gate != "" {
		b.WriteString(" gate=" + e.Gate)
	}
	if e.Err != nil {
		b.WriteString(": " + e.Err.Error())
	}
	return b.String()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Is makes errors.Is match on the code when the target is an *Error without a key. A mode's refusal is also an invalid
// transition (docs/spec/task.md#d9).
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	if !ok || t.Key != "" {
		return false
	}
	if t.Code == CodeInvalidTransition && e.Code == CodeModeViolation {
		return true
	}
	return t.Code == e.Code
}

// CodeOf returns the code of the first *Error in err's chain, CodeInternal for any other error, and "" for nil.
func CodeOf(err error) Code {
	if err == nil {
		return ""
	}
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return CodeInternal
}

// Sentinels for errors.Is, named as docs/spec/task.md#s9-1 names them.
var (
	ErrInvalidTransition = &Error{Code: CodeInvalidTransition}
	ErrTaskNotFound      = &Error{Code: CodeNotFound}
	ErrAlreadyInState    = &Error{Code: CodeAlreadyInState}
	ErrRetryNotAllowed   = &Error{Code: CodeRetryNotAllowed}
	ErrModeViolation     = &Error{Code: CodeModeViolation}
	ErrConflict          = &Error{Code: CodeConflict}
	ErrFenced            = &Error{Code: CodeFenced}
	ErrBusy              = &Error{Code: CodeBusy}
)
