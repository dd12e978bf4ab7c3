//go:build !linux

package firstrun

import (
	"context"
	"fmt"
	"os/exec"
	"runtime"
)

// Child does nothing here.
func Child() {}

func (f Floor) command(ctx context.Context, argv []string) (*exec.Cmd, error) {
	if len(f.parts) > 0 {
		return nil, fmt.Errorf("there are no floors on %s", runtime.GOOS)
	}
	return exec.CommandContext(ctx, argv[0], argv[1:]...), nil
}
