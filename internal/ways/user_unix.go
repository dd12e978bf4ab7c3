//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
)

// again does everything as another user: a copy of this program, which that user can read, with a folder of the user's
// own.
func again(ctx context.Context, f flags, dir string) (bad bool, err error) {
	self, err := os.Executable()
	if err != nil {
		return false, err
	}
	own, copied, program := filepath.Join(dir, "own"), filepath.Join(dir, "ways"), filepath.Join(dir, "pawl")
	err = errors.Join(os.Chmod(dir, 0o755), copyProgram(copied, self), os.Mkdir(own, 0o755),
		os.Chown(own, f.uid, f.uid))
	if err == nil && f.pawl != program {
		err = copyProgram(program, f.pawl)
	}
	if err != nil {
		return false, err
	}
	args := []string{"-under", f.under, "-only", f.only, "-way", f.way, "-pawl", program, "-dir", own, "-patience",
		f.patience.String()}
	for name, on := range map[string]bool{"-json": f.json, "-cold": f.cold, "-keep": f.keep, "-screens": f.screens} {
		if on {
			args = append(args, name)
		}
	}
	cmd := exec.CommandContext(ctx, copied, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = own, os.Stdout, os.Stderr
	cmd.Env = []string{"HOME=" + own, "PATH=" + os.Getenv("PATH"), "USER=" + strconv.Itoa(f.uid), "LANG=C.UTF-8",
		"TMPDIR=" + own}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(f.uid), Gid: uint32(f.uid)}}
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	err = cmd.Run()
	var ended *exec.ExitError
	if errors.As(err, &ended) && ended.ExitCode() == 1 {
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("as user %d: %w", f.uid, err)
	}
	return false, nil
}

func copyProgram(to, from string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close(), os.Chmod(to, 0o755))
}
