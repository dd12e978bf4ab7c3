// Command disturb runs a command beside what other programs of a desktop do: it keeps every processor busy, and opens
// and closes sockets with names in the file system, so that one comes or goes every few milliseconds.
//
//	go run ./internal/disturb [-times N] [-sockets DIR] COMMAND [ARG…]
//
// The command runs N times in a row, until it fails once. Its exit status is the status of disturb.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"time"
)

// every is how long a socket is there, and how long it is gone.
const every = 4 * time.Millisecond

func main() {
	times := flag.Int("times", 1, "run the command so often in a row")
	where := flag.String("sockets", "", "open the sockets in this folder; below /tmp nothing behind pawl's walls would meet them (default: the user's cache)")
	flag.Parse()
	if flag.NArg() == 0 || *times < 1 {
		flag.Usage()
		os.Exit(2)
	}
	if err := disturb(*times, *where, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "disturb:", err)
		var ended *exec.ExitError
		if errors.As(err, &ended) && ended.ExitCode() > 0 {
			os.Exit(ended.ExitCode())
		}
		os.Exit(1)
	}
}

func disturb(times int, where string, argv []string) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if where == "" {
		var err error
		if where, err = os.UserCacheDir(); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(where, 0o755); err != nil {
		return err
	}
	dir, err := os.MkdirTemp(where, "disturb-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	for range runtime.NumCPU() {
		go func() {
			for ctx.Err() == nil {
				for range 1 << 20 { // busy, without a pause
				}
			}
		}()
	}
	for i := range 4 {
		go flicker(ctx, filepath.Join(dir, strconv.Itoa(i)))
	}
	for i := range times {
		start := time.Now()
		cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("run %d of %d, after %s: %w", i+1, times, time.Since(start).Round(time.Second), err)
		}
		fmt.Printf("disturb: run %d of %d passed in %s\n", i+1, times, time.Since(start).Round(time.Second))
	}
	return nil
}

// flicker opens and closes a socket until ctx is done.
func flicker(ctx context.Context, path string) {
	for ctx.Err() == nil {
		l, err := net.Listen("unix", path)
		time.Sleep(every)
		if err == nil {
			_ = l.Close()
		}
		time.Sleep(every)
	}
}
