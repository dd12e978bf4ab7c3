package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"pawl"
	"pawl/agent"
	"pawl/agent/scripted"
	"pawl/text/plan"
)

// The agents that are measured where they are installed: one that starts as a script of Node, and one that is a
// program.
var measuredAgents = []string{"pi", "codex"}

const (
	agentRounds = 7
	// What pawl may add to a run: so much of the bare agent's time, and never less than this.
	agentShare   = 0.10
	agentAtLeast = 300 * time.Millisecond
)

// benchAgent measures a whole run of an external agent beside the same agent alone, both with the same scripted model
// on loopback. What lies between is pawl's own: the walls around the agent, the gateway in front of the model, a
// worktree, snapshots of the tree, commits of every move, landing and archive. The plan asks for no checks, so that
// none are in it.
func benchAgent(ctx context.Context, s *settings, emit func(Result)) error {
	model, err := scripted.Serve("127.0.0.1:0", editing())
	if err != nil {
		return err
	}
	defer model.Close()
	var pawl *program
	for _, name := range measuredAgents {
		p, ok := agent.Known(name)
		if !ok {
			return fmt.Errorf("the catalog has no agent %s", name)
		}
		path, ok := p.Installed(lookAgent)
		if !ok {
			s.say("%s is not installed and is left out; install it with: make agents", name)
			continue
		}
		if pawl == nil {
			if pawl, err = buildPawl(ctx, s); err != nil {
				return err
			}
		}
		for _, asked := range []bool{false, true} {
			r := rival{program: pawl, agent: p, path: path, model: model, asked: asked,
				dir: filepath.Join(s.dir, fmt.Sprintf("%s-%v", name, asked))}
			if err := r.measure(ctx, s, emit); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	return nil
}

// lookAgent finds a program on PATH, or where `make agents` installs agents.
func lookAgent(name string) (string, bool) {
	if path, err := exec.LookPath(name); err == nil {
		return path, true
	}
	// the pattern is well-formed
	found, _ := filepath.Glob(filepath.Join("..", ".tools", "agents", "*", "node_modules", ".bin", name))
	if len(found) == 0 {
		return "", false
	}
	path, err := filepath.Abs(found[0])
	return path, err == nil
}

// editedFile is what the agents change, and editedText what they write.
const editedFile, editedText = "README.md", "# A sample, edited\n"

// editing is a model that reads a file, writes it and says that it is done.
func editing() scripted.Script { return scripted.FixBug(editedFile, editedText, editedText) }

// rival is one agent that works alone and for pawl.
type rival struct {
	program *program
	agent   agent.Program
	path    string
	model   *scripted.Server
	asked   bool // for a plan, and not to work
	dir     string
}

// prompt is what both are asked for. pawl puts it into a prompt of its own.
const prompt = "Say in README.md that the sample was edited."

func (r rival) measure(ctx context.Context, s *settings, emit func(Result)) error {
	file, err := r.plan()
	if err != nil {
		return err
	}
	var alone, whole, added, busy []float64
	for round := range agentRounds + 1 {
		s.say("round %d of %d: %s alone and for pawl", round, agentRounds, r.agent.Name)
		bare, err := r.alone(ctx, filepath.Join(r.dir, fmt.Sprintf("alone-%d", round)))
		if err == nil && r.asked { // for a judgement first, and then for the plan
			var again spent
			again, err = r.alone(ctx, filepath.Join(r.dir, fmt.Sprintf("again-%d", round)))
			bare = spent{bare.wall + again.wall, bare.processor + again.processor}
		}
		if err != nil {
			return err
		}
		own, err := r.whole(ctx, filepath.Join(r.dir, fmt.Sprintf("pawl-%d", round)), file)
		if err != nil {
			return err
		}
		if round > 0 { // the first round warms the system's caches
			alone, whole = append(alone, float64(bare.wall)), append(whole, float64(own.wall))
			added, busy = append(added, float64(own.wall-bare.wall)), append(busy,
				float64(own.processor-bare.processor))
		}
	}
	yard, extra := median(alone), median(added)
	what, goal := ", one edit", math.Round(max(float64(agentAtLeast.Milliseconds()), agentShare*yard/1e6))
	if r.asked {
		what, goal = ", a plan", float64(agentAtLeast.Milliseconds())
	}
	emit(Result{Case: r.agent.Name + what, Pawl: tookNanos(median(whole)), Beside: tookNanos(yard),
		Yardstick: r.agent.Name + " alone",
		Score:     extra / 1e6, Unit: "ms", Goal: goal, AtMost: true,
		Note: fmt.Sprintf("added %.1f %%, processor %s; no checks; %d runs", 100*extra/yard, short(median(busy)),
			agentRounds)})
	return nil
}

// plan writes the plan: one step that is the agent's, and no checks.
func (r rival) plan() (string, error) {
	if err := os.MkdirAll(r.dir, 0o755); err != nil {
		return "", err
	}
	text, err := json.Marshal(plan.Plan{Goal: prompt, Constraints: []string{}, RiskLevel: pawl.RiskLow,
		Steps:        []plan.Step{{StepID: "s1", Title: "Edit the file", Intent: prompt, Status: plan.Pending}},
		Verification: plan.VerificationPolicy{Mode: plan.VerifyNone, Commands: []string{}}})
	if err != nil {
		return "", err
	}
	file := filepath.Join(r.dir, "plan.json")
	return file, os.WriteFile(file, text, 0o644)
}

// alone runs the agent as its users do, with a fresh home, as it has one in each of pawl's runs.
func (r rival) alone(ctx context.Context, dir string) (spent, error) {
	home := filepath.Join(r.dir, "home-"+filepath.Base(dir))
	if err := errors.Join(r.program.repository(ctx, dir), os.MkdirAll(filepath.Join(home, "tmp"), 0o700)); err != nil {
		return spent{}, err
	}
	// Some agents refuse a home below the folder for temporary files, so each has a folder of its own.
	own := filepath.Join(home, "user")
	said, form := prompt, filepath.Join(home, "form.json")
	if r.asked {
		said = agent.Rules("plan", false).Text + "\n" + agent.Rules("asked", false).Text + "\n" + scripted.Planning +
			"\n\n" + agent.Section("Requirement", prompt)
		if err := os.WriteFile(form, []byte(`{"type":"object","properties":{},"required":[],"additionalProperties":false}`),
			0o600); err != nil {
			return spent{}, err
		}
	}
	fill := strings.NewReplacer("{form}", form, "{servers}", "", "{url}", r.model.URL, "{model}", "mock-model", "{window}", "128000", "{out}", "8192",
		"{key}", "key", "{home}", own, "{prompt}", said)
	for name, content := range r.agent.Files {
		name = filepath.Join(own, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700),
			os.WriteFile(name, []byte(fill.Replace(content)), 0o600)); err != nil {
			return spent{}, err
		}
	}
	var args []string
	for _, a := range r.agent.Line(r.agent.Args, r.asked, false) {
		args = append(args, fill.Replace(a))
	}
	c := exec.CommandContext(ctx, r.path, args...)
	c.Dir = dir
	c.Env = append(r.program.env, "HOME="+own, "TMPDIR="+filepath.Join(home, "tmp"), "PATH="+filepath.Dir(r.path)+":"+
		os.Getenv("PATH"))
	for k, v := range r.agent.Env {
		c.Env = append(c.Env, k+"="+fill.Replace(v))
	}
	return r.spentBy(c, dir, 1)
}

// whole has pawl do the same with the agent.
func (r rival) whole(ctx context.Context, dir, file string) (spent, error) {
	key := filepath.Join(r.dir, "key")
	// A plan is refused where nothing could show that it was carried out.
	if err := errors.Join(os.MkdirAll(dir, 0o755), os.WriteFile(filepath.Join(dir, "test.sh"), []byte("true\n"), 0o644),
		r.program.repository(ctx, dir), quiet(r.program.command(ctx, dir, "init")),
		os.WriteFile(key, []byte("key\n"), 0o600)); err != nil {
		return spent{}, err
	}
	args := []string{"run", "--plan", file, "--agent", r.agent.Name, "--yes", "--json"}
	if r.asked { // it ends with the question whether the plan may be carried out
		args = []string{"run", prompt, "--agent", r.agent.Name, "--json"}
	}
	c := r.program.command(ctx, dir, args...)
	c.Env = append(c.Env, "PATH="+filepath.Dir(r.path)+":"+os.Getenv("PATH"), "PAWL_MODEL_KIND="+
		string(r.agent.Wire.Provider()),
		"PAWL_MODEL_BASE_URL="+r.model.URL+"/v1", "PAWL_MODEL_NAME=mock-model", "PAWL_MODEL_KEY_FILE="+key)
	return r.spentBy(c, dir, 2)
}

// spent is what a run took: its time, and the processor time of all its processes, which depends less on what else the
// machine does.
type spent struct{ wall, processor time.Duration }

// spentBy runs a command that has to edit the file in dir, or to make a plan with so many questions.
func (r rival) spentBy(c *exec.Cmd, dir string, questions int) (spent, error) {
	if !r.asked {
		took, err := wall(c)
		if err := errors.Join(err, done(dir)); err != nil {
			return spent{}, err
		}
		return spent{took, c.ProcessState.UserTime() + c.ProcessState.SystemTime()}, nil
	}
	before := len(r.model.Requests())
	start := time.Now()
	out, err := c.CombinedOutput()
	took := time.Since(start)
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.ExitCode() == pawl.CodeApprovalNeeded.Info().Exit {
		err = nil
	}
	if asked := len(r.model.Requests()) - before; err != nil || asked != questions || !strings.Contains(string(out), "s1") {
		return spent{}, fmt.Errorf("no plan after %d requests: %w: %s", asked, err, out)
	}
	return spent{took, c.ProcessState.UserTime() + c.ProcessState.SystemTime()}, nil
}

// done says whether the work was done: an agent that fails at once would look fast.
func done(dir string) error {
	raw, err := os.ReadFile(filepath.Join(dir, editedFile))
	if err == nil && string(raw) != editedText {
		err = fmt.Errorf("%s was not edited: %q", editedFile, raw)
	}
	return err
}
