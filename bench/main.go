// Command bench measures pawl beside what it is to be compared with, in one run on one machine, and prints ratios:
//
//	cd bench && go run . [-only decide,durable] [-time 20s] [-dir DIR] [-plots DIR] [-postgres DSN] [-json] [-strict] [-cpuprofile FILE]
//
// Every figure is taken in rounds that alternate between pawl and its yardstick, and medians are compared, so that what
// the machine does besides weighs on both. docs/benchmarks.md says what is measured and how to read the table. The exit
// status is 0 even where a goal is missed, unless -strict is given; it is 1 when a measurement itself failed.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"
	"time"

	"pawl/sandbox"
)

// bench is one group of measurements.
type bench struct {
	name string
	run  func(context.Context, *settings, func(Result)) error
}

// benches are all groups, in the order in which they run: the ones that load the disk come after those that do not.
var benches = []bench{
	{"decide", benchDecide},
	{"idle", benchIdle},
	{"durable", benchDurable},
	{"queue", benchQueue},
	{"growth", benchGrowth},
	{"board", benchBoard},
	{"worktree", benchWorktree},
	{"dependencies", benchDependencies},
	{"ground", benchGround},
	{"proof", benchProof},
	{"cli", benchCLI},
	{"see", benchSee},
	{"pages", benchPages},
	{"floor", benchFloor},
	{"run", benchRun},
	{"agent", benchAgent},
}

// settings say how a run measures.
type settings struct {
	// span is how long the 256 callers write; everything else takes a fixed part of it, except that cards change for
	// soak while it is looked whether their page grows.
	span, soak time.Duration
	// dir is an empty folder of this run's own, on the disk that is measured, and parent one that others may enter.
	dir, parent string
	// plots is the folder for plots, "" for none; postgres is the DSN of a server that is there, "" for one of this
	// run's own.
	plots, postgres string
	// say tells what is being measured, for a person who waits.
	say func(format string, args ...any)
}

// report is the outcome of a run.
type report struct {
	Machine string `json:"machine"`
	Go      string `json:"go"`
	At      string `json:"at"`
	// Load is how many processes wanted a processor in the minute before, where the system tells; -1 elsewhere.
	Load    float64  `json:"load"`
	Results []Result `json:"results"`
}

// busy reports whether others took so much of the machine that the figures mean little.
func (r report) busy() bool { return r.Load > float64(runtime.NumCPU())/2 }

func main() {
	sandbox.Child() // commands behind walls are started through this very program
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run is main without the process: it parses arguments, measures, prints, and returns the exit status.
func run(ctx context.Context, args []string, out, errs io.Writer) int {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(errs)
	only := flags.String("only", "", "measure only these, by name, separated by commas: "+names())
	span := flags.Duration("time", 20*time.Second, "how long 256 callers write; other measurements take a part of it")
	soak := flags.Duration("soak", 20*time.Second, "how long cards change while it is looked whether a page grows")
	var where places
	flags.StringVar(&where.parent, "dir", os.TempDir(), "folder on the disk to measure")
	flags.StringVar(&where.plots, "plots", "", "write plots, as SVG, into this folder")
	flags.StringVar(&where.postgres, "postgres", "",
		"DSN of a PostgreSQL for the comparison with River, whose table there is emptied (default: start one)")
	flags.StringVar(&where.profile, "cpuprofile", "", "write a profile of the processor's time to this file")
	asJSON := flags.Bool("json", false, "print JSON instead of a table")
	strict := flags.Bool("strict", false, "exit with status 1 when a goal is missed")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return 0
		}
		return 2
	}
	chosen, err := choose(*only)
	if err != nil || flags.NArg() > 0 || min(*span, *soak) <= 0 {
		fmt.Fprintln(errs, "bench:", errors.Join(err, usage(flags.NArg(), min(*span, *soak))))
		return 2
	}
	rep, err := measure(ctx, chosen, *span, *soak, where, errs)
	if err == nil {
		err = show(out, rep, *asJSON)
	}
	if err != nil {
		fmt.Fprintln(errs, "bench:", err)
		return 1
	}
	if *strict && slices.ContainsFunc(rep.Results, Result.Missed) {
		return 1
	}
	return 0
}

func usage(extra int, shortest time.Duration) error {
	if extra > 0 {
		return errors.New("takes no arguments besides flags")
	}
	if shortest <= 0 {
		return errors.New("-time and -soak must be longer than nothing")
	}
	return nil
}

func names() string {
	var out []string
	for _, b := range benches {
		out = append(out, b.name)
	}
	return strings.Join(out, ", ")
}

// choose returns the benches that a list names, or all.
func choose(list string) ([]bench, error) {
	if list == "" {
		return benches, nil
	}
	var out []bench
	for name := range strings.SplitSeq(list, ",") {
		i := slices.IndexFunc(benches, func(b bench) bool { return b.name == strings.TrimSpace(name) })
		if i < 0 {
			return nil, fmt.Errorf("no benchmark is called %q; there are %s", name, names())
		}
		out = append(out, benches[i])
	}
	return out, nil
}

// places are where a run finds and leaves things; see the flags.
type places struct{ parent, plots, postgres, profile string }

// measure runs the chosen benches in a folder that is gone afterwards.
func measure(ctx context.Context, chosen []bench, span, soak time.Duration, where places,
	errs io.Writer) (rep report, err error) {
	dir, err := os.MkdirTemp(where.parent, "pawl-bench-")
	if err != nil {
		return report{}, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if where.profile != "" {
		f, err := os.Create(where.profile)
		if err != nil {
			return report{}, err
		}
		defer f.Close()
		if err := pprof.StartCPUProfile(f); err != nil {
			return report{}, err
		}
		defer pprof.StopCPUProfile()
	}
	rep = report{
		Machine: fmt.Sprintf("%s/%s, %d processors", runtime.GOOS, runtime.GOARCH, runtime.NumCPU()),
		Go:      runtime.Version(), At: time.Now().UTC().Format(time.RFC3339), Load: loadAverage(),
	}
	for _, b := range chosen {
		s := &settings{span: span, soak: soak, dir: dir + "/" + b.name, parent: where.parent, plots: where.plots,
			postgres: where.postgres,
			say:      func(format string, args ...any) { fmt.Fprintf(errs, b.name+": "+format+"\n", args...) }}
		if err := os.Mkdir(s.dir, 0o755); err != nil {
			return rep, err
		}
		err := b.run(ctx, s, func(r Result) {
			r.Bench = b.name
			rep.Results = append(rep.Results, r)
		})
		if err != nil {
			return rep, fmt.Errorf("%s: %w", b.name, err)
		}
		if err := os.RemoveAll(s.dir); err != nil {
			return rep, err
		}
	}
	return rep, nil
}

func show(out io.Writer, rep report, asJSON bool) error {
	if asJSON {
		enc := json.NewEncoder(out)
		enc.SetIndent("", "  ")
		return enc.Encode(rep)
	}
	return printTable(out, rep)
}

// loadAverage is the load of the last minute, or -1 where the system does not tell.
func loadAverage() float64 {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return -1
	}
	first, _, _ := strings.Cut(string(text), " ")
	load, err := strconv.ParseFloat(first, 64)
	if err != nil {
		return -1
	}
	return load
}
