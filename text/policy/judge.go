package policy

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"pawl/text/display"

	"pawl"
	"pawl/text/shell"
)

// The limits on what one verdict holds.
const (
	maxReasons = 16
	maxPaths   = 10_000
	maxDepth   = 8    // shells and wrappers inside each other
	maxPath    = 4096 // bytes of one path
)

// Judge decides on a request under a profile. It never fails: what it cannot understand it denies. It takes time and
// memory in proportion to the request, at most a fraction of a second for the longest command that it reads at all.
func Judge(r Request, p Profile) Verdict {
	if p.Name == "" {
		p = Strict()
	}
	j := newJudge(r, p)
	j.tool()
	for _, path := range r.Paths {
		j.requestPath(path)
	}
	j.count()
	if r.Command != "" {
		j.shellCommand()
	}
	return j.verdict()
}

// newJudge returns a judge that has found nothing yet.
func newJudge(r Request, p Profile) *judge {
	j := &judge{req: r, prof: p, root: strings.TrimRight(r.Root, "/"), seen: map[string]bool{}, least: pawl.RiskLow}
	// A profile that asks before every command, and one that only looks, get all the reasons whatever the walls hold.
	j.walled = r.Ground.Walled && !p.ReadOnly && !p.Unconfined
	j.held = j.walled && !p.ConfirmExec
	j.own = j.held && r.Ground.Own
	j.reader = shell.Reader{Visitor: visitor{j}, Root: j.root}
	if j.held {
		j.reader.Temp = "/tmp"
	}
	return j
}

// judge gathers the findings on one request.
type judge struct {
	req  Request
	prof Profile

	root   string // the workspace, without a slash behind it
	walled bool   // walls hold the command, and it may write
	held   bool   // and the profile builds on that
	own    bool   // and the tree is the work's own

	found []finding
	seen  map[string]bool // what is already in found, calls' names or paths, by kind

	calls   []Call
	names   []string
	paths   []Path
	network bool
	fetched bool      // a client that fetches a text is among the calls
	blind   bool      // a shell that runs a text which nobody knows is among the calls
	least   pawl.Risk // the least risk of the verdict

	reader shell.Reader
	wraps  int // how deep wrappers are nested
	shells int // how deep shells are nested
}

// finding is one reason with its weight.
type finding struct {
	Reason
	decision Decision
	risk     pawl.Risk
	scope    Scope
}

// find records a finding; the message's key is the code's own.
func (j *judge) find(d Decision, code Code, args ...string) {
	for i, a := range args {
		args[i] = shell.Shorten(display.Line(a))
	}
	id := "f" + string(d) + string(code) + strings.Join(args, "\x00")
	if j.seen[id] {
		return
	}
	j.seen[id] = true
	risk, scope := weigh(code)
	f := finding{Reason{code, "policy." + string(code), args}, d, risk, scope}
	if len(j.found) < 8*maxReasons {
		j.found = append(j.found, f)
		return
	}
	// The list is full of findings: keep the gravest, so that a flood of questions never hides a refusal.
	least := 0
	for i := range j.found {
		if compareFindings(j.found[i], j.found[least]) >= 0 {
			least = i
		}
	}
	if compareFindings(f, j.found[least]) < 0 {
		j.found[least] = f
	}
}

// compareFindings orders the gravest first.
func compareFindings(a, b finding) int {
	decisions, risks := []Decision{Deny, Ask}, []pawl.Risk{pawl.RiskHigh, pawl.RiskMedium, pawl.RiskLow}
	return cmp.Or(slices.Index(decisions, a.decision)-slices.Index(decisions, b.decision),
		slices.Index(risks, a.risk)-slices.Index(risks, b.risk))
}

// verdict sums the findings up.
func (j *judge) verdict() Verdict {
	v := Verdict{Decision: Allow, Risk: pawl.RiskLow, Commands: j.names, Paths: j.paths, Network: j.network ||
		j.req.Network}
	if j.req.Foreign != "" {
		v.Risk = pawl.RiskMedium
	}
	if j.least.AtLeast(v.Risk) {
		v.Risk = j.least
	}
	for _, p := range j.paths {
		if p.Op != OpRead {
			v.Risk = pawl.RiskMedium
		}
	}
	slices.SortStableFunc(j.found, compareFindings)
	scopes := []Scope{SingleAction, Session, Workspace} // from the narrowest
	v.Scope = Workspace
	for _, f := range j.found {
		if f.risk.AtLeast(v.Risk) {
			v.Risk = f.risk
		}
		if f.decision == Ask && slices.Index(scopes, f.scope) < slices.Index(scopes, v.Scope) {
			v.Scope = f.scope
		}
		v.Person = v.Person || f.Code == CodeOutward && f.decision == Ask
		if len(v.Reasons) < maxReasons {
			v.Reasons = append(v.Reasons, f.Reason)
		}
	}
	if len(j.found) == 0 {
		v.Reasons = []Reason{{Code: CodeAllowed, Key: "policy.allowed"}}
	} else {
		v.Decision = j.found[0].decision
	}
	if v.Decision != Ask {
		v.Scope = ""
	}
	v.Code = v.Reasons[0].Code
	return v
}

// tool judges the call by its tool and by the permissions which that declares.
func (j *judge) tool() {
	r, p := &j.req, &j.prof
	for _, text := range []string{r.Tool, r.Root} {
		if !utf8.ValidString(text) || strings.ContainsFunc(text, shell.Hidden) {
			j.find(Deny, CodeInvalidText)
		}
	}
	if len(p.AllowedTools) > 0 && !slices.Contains(p.AllowedTools, r.Tool) ||
		slices.Contains(p.DisallowedTools, r.Tool) {
		j.find(Deny, CodeToolDisabled, r.Tool)
	}
	if r.Foreign != "" {
		j.foreign()
		return
	}
	for _, perm := range r.Permissions {
		j.permission(perm)
	}
	if r.Network || slices.Contains(r.Permissions, NetConnect) {
		j.connect(r.Tool)
	}
}

// permission judges one permission that the tool declares.
func (j *judge) permission(perm Permission) {
	changes := perm == FSWrite || perm == FSDelete || perm == GitWrite
	switch {
	case !perm.Valid():
		j.find(Deny, CodeInvalidRequest, string(perm))
	case perm == ProcExec && j.req.Command == "":
		j.find(Deny, CodeInvalidRequest, "command")
	case j.prof.ReadOnly && changes:
		j.find(Deny, CodeReadOnly, string(perm))
	case perm == GitWrite:
		j.find(Ask, CodeGitWrite, j.req.Tool)
	case len(j.req.Paths) > 0: // each of them is judged
	case perm == FSDelete:
		j.find(Ask, CodeDelete, j.req.Tool)
	case perm == FSWrite && j.prof.ConfirmWrite:
		j.find(Ask, CodeWrite, j.req.Tool)
	}
}

// foreign judges a call of a tool that is not pawl's. What its server says of it, that it only reads for instance, is
// no evidence, so each call is asked for unless the user named the tool. The hosts that its server reaches are the
// user's own settings, and are not asked about again.
func (j *judge) foreign() {
	r, p := &j.req, &j.prof
	connects := slices.Contains(r.Permissions, NetConnect)
	j.network = connects
	switch {
	case p.ReadOnly:
		j.find(Deny, CodeReadOnly, r.Tool)
	case p.NoNetwork && connects:
		j.find(Deny, CodeNetwork, r.Tool)
	case !slices.ContainsFunc(p.MCPTools, func(name string) bool {
		return name == r.Tool || name == r.Foreign+
			foreignAll
	}):
		j.find(Ask, CodeForeignTool, r.Tool, r.Foreign)
	}
}

// foreignAll stands behind a server's name for all of its tools.
const foreignAll = "__*"

// connect judges a connection to somewhere.
func (j *judge) connect(what string) {
	j.network = true
	switch {
	case j.prof.ReadOnly || j.prof.NoNetwork:
		j.find(Deny, CodeNetwork, what)
	case !j.prof.AllowNetwork:
		j.find(Ask, CodeNetwork, what)
	}
}

// requestPath judges a path that the tool's arguments name.
func (j *judge) requestPath(p Path) {
	switch p.Op {
	case OpRead, OpWrite, OpDelete:
	default:
		j.find(Deny, CodeInvalidRequest, string(p.Op))
		return
	}
	if code, ok := canonical(p.Rel); !ok {
		j.find(Deny, code, p.Rel)
		return
	}
	j.touch(p.Rel, p.Op, false)
	if p.Op == OpDelete && j.own && !j.prof.ReadOnly {
		j.find(Ask, CodeDelete, p.Rel) // a tool that is told to delete a file does nothing else
	}
}

// touch records and judges one path inside the workspace. Pattern says that it stands for every name that it
// matches. What was judged before is not judged again.
func (j *judge) touch(rel string, op Op, pattern bool) {
	id := "p" + string(op) + rel
	if pattern {
		id = "*" + id
	}
	if j.seen[id] {
		return
	}
	j.seen[id] = true
	if len(j.paths) < maxPaths {
		j.paths = append(j.paths, Path{rel, op})
	}
	if d, code := classify(rel, op, pattern, j.prof.Sensitive); d != Allow {
		j.find(d, code, rel)
	}
	if op == OpRead {
		return
	}
	if name := j.req.Repo.FilterOf(rel); name != "" && op == OpWrite {
		d := Ask // the file stays uncommitted in the user's tree
		if j.req.Ground.Own {
			d = Deny // the work could never land
		}
		j.find(d, CodeFiltered, rel, name)
	}
	switch {
	case j.prof.ReadOnly:
		j.find(Deny, CodeReadOnly, rel)
	case op == OpDelete && !j.own:
		j.find(Ask, CodeDelete, rel)
	case j.prof.ConfirmWrite:
		j.find(Ask, CodeWrite, rel)
	}
}

// count asks where the call changes many files at once.
func (j *judge) count() {
	changed := map[string]bool{}
	for _, p := range j.req.Paths {
		if p.Op != OpRead {
			changed[p.Rel] = true
		}
	}
	n := max(len(changed), j.req.Files)
	if limit := j.prof.maxFiles(); n > limit {
		j.find(Ask, CodeManyFiles, strconv.Itoa(n), strconv.Itoa(limit))
	}
}

// shellCommand judges the shell command of the request.
func (j *judge) shellCommand() {
	if !j.reader.Read(j.req.Command, shell.Bash, []string{""}) {
		return
	}
	head := ""
	if len(j.names) > 0 {
		head = j.names[0]
	}
	if j.fetched && j.blind && (j.req.Network || j.prof.AllowNetwork) {
		j.find(Ask, CodeOutward, shell.Shorten(j.req.Command))
	}
	if j.prof.ConfirmExec {
		j.find(Ask, CodeExec, head)
	}
	if j.prof.Unconfined {
		j.find(Ask, CodeNoWalls, head)
	}
}

// weigh returns the risk of what a code stands for and the widest scope of a yes to it.
func weigh(code Code) (pawl.Risk, Scope) {
	switch code {
	case CodeInvalidText, CodeTooComplex, CodePathEscape, CodeProtectedPath, CodeSensitivePath, CodeSecret,
		CodeEnvironment, CodeHiddenText, CodeDestructive, CodePrivilege, CodeForeignTool, CodeAmbiguous, CodeOutward,
		CodeFiltered:
		return pawl.RiskHigh, SingleAction
	case CodeWrite, CodeNotAllowlisted, CodeGitWrite, CodeNoWalls:
		return pawl.RiskMedium, Session
	case CodeExec:
		return pawl.RiskLow, Session
	}
	return pawl.RiskMedium, SingleAction
}
