//go:build linux

// Command unwalled takes one wall of pawl away at a time, runs the tests that try to get over it, and tells two things:
// whether a test failed, as it must, and whether anything of the machine that is not the tests' own was harmed, which
// must never happen.
//
//	go run ./internal/unwalled [-all] [-only NAME] [PACKAGE…]
//
// The wall is missing in an overlay of the build alone; the checkout stays as it is. Without packages the tests of the
// sandbox run, with -all those of every package that starts commands. It is meant for root as well: that is where harm
// would be done.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"time"
)

// starting are the packages whose tests start commands, agents, or git.
var starting = []string{"./sandbox/...", "./driver/...", "./agent/...", "./face/demo", "./face/doctor", "./cmd/pawl"}

func main() {
	all := flag.Bool("all", false, "run the tests of every package that starts commands")
	only := flag.String("only", "", "take away this wall alone")
	flag.Parse()
	packages := flag.Args()
	switch {
	case *all:
		packages = starting
	case len(packages) == 0:
		packages = []string{"./sandbox/..."}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *only, packages); err != nil {
		fmt.Fprintln(os.Stderr, "unwalled:", err)
		os.Exit(1)
	}
}

// run takes the walls away one after the other. The error says which were not missed, or did harm.
func run(ctx context.Context, only string, packages []string) error {
	guard, err := watch()
	if err != nil {
		return err
	}
	defer guard.close()
	var errs []error
	tried := 0
	for _, w := range walls {
		if only != "" && only != w.Name || ctx.Err() != nil {
			continue
		}
		tried++
		start := time.Now()
		failed, err := w.Test(ctx, packages...)
		harm := guard.harm()
		verdict := "missed by " + strings.Join(failed[:min(len(failed), 5)], " ")
		switch {
		case err != nil:
			verdict = "not tried: " + err.Error()
		case len(failed) == 0:
			verdict = "NOT MISSED by any test"
			err = errors.New("no test failed without it")
		}
		if len(harm) > 0 {
			verdict += "; HARM DONE: " + strings.Join(harm, ", ")
			err = errors.Join(err, errors.New("harm was done without it"))
		}
		fmt.Printf("%-28s %5.1fs  %s\n", w.Name, time.Since(start).Seconds(), verdict)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", w.Name, err))
		}
	}
	if tried == 0 && ctx.Err() == nil {
		return fmt.Errorf("there is no wall %q", only)
	}
	fmt.Printf("%d walls taken away, one at a time\n", tried)
	return errors.Join(append(errs, ctx.Err())...)
}
