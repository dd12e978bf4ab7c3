// Command sensitivity puts one error at a time into pawl, runs the tests that are to notice, and prints which of them
// did, and how long that took.
//
//	go run ./internal/sensitivity [-only REGEXP]
//
// It ends with 0 where all errors but one, at most, are noticed. A test that fails without any error in the program
// notices nothing.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"slices"
	"strings"
	"time"

	"pawl/internal/mutant"
)

// missable is how many errors may go unnoticed.
const missable = 1

func main() {
	only := flag.String("only", "", "put in the errors alone whose package and name this regular expression fits")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	fits, err := regexp.Compile(*only)
	if err == nil {
		err = run(ctx, slices.DeleteFunc(slices.Clone(bugs),
			func(b bug) bool { return !fits.MatchString(b.pkg + " " + b.Name) }))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "sensitivity:", err)
		os.Exit(1)
	}
}

// run puts the errors in one after the other.
func run(ctx context.Context, chosen []bug) error {
	if len(chosen) == 0 {
		return fmt.Errorf("there is no such error; those that there are: %s", strings.Join(names(), ", "))
	}
	flaky, err := without(ctx, chosen)
	if err != nil {
		return err
	}
	var missed []string
	for _, b := range chosen {
		start := time.Now()
		failed, err := b.Test(ctx, "-run", b.run, "./"+b.pkg)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		failed = slices.DeleteFunc(failed, func(test string) bool { return slices.Contains(flaky[b.pkg], test) })
		verdict := "noticed by " + b.pkg + " " + strings.Join(failed[:min(len(failed), 5)], " ")
		switch {
		case err != nil:
			verdict = "NOT TRIED: " + err.Error()
		case len(failed) == 0:
			verdict = "NOT NOTICED by " + b.pkg + " " + b.run
		}
		if err != nil || len(failed) == 0 {
			missed = append(missed, b.Name)
		}
		fmt.Printf("%-52s %6.1fs  %s\n", b.Name, time.Since(start).Seconds(), verdict)
	}
	fmt.Printf("%d of %d errors noticed\n", len(chosen)-len(missed), len(chosen))
	if len(missed) > missable || len(missed) == len(chosen) {
		return fmt.Errorf("not noticed: %s", strings.Join(missed, ", "))
	}
	return nil
}

// without runs the same tests on the program as it is, a package at a time, and returns those that fail even so.
func without(ctx context.Context, chosen []bug) (map[string][]string, error) {
	filters := map[string][]string{}
	var order []string
	for _, b := range chosen {
		if filters[b.pkg] == nil {
			order = append(order, b.pkg)
		}
		if !slices.Contains(filters[b.pkg], b.run) {
			filters[b.pkg] = append(filters[b.pkg], b.run)
		}
	}
	flaky := map[string][]string{}
	for _, pkg := range order {
		failed, err := mutant.Mutant{}.Test(ctx, "-run", strings.Join(filters[pkg], "|"), "./"+pkg)
		if err != nil {
			return nil, fmt.Errorf("without an error in it: %w", err)
		}
		if len(failed) > 0 {
			flaky[pkg] = failed
			fmt.Printf("without an error in the program %s fails, too, and does not count: %s\n", pkg,
				strings.Join(failed, " "))
		}
	}
	return flaky, nil
}

func names() (out []string) {
	for _, b := range bugs {
		out = append(out, b.Name)
	}
	return out
}
