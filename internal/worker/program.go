package worker

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strings"
	"time"

	"pawl/internal/firstrun"
)

// Program is a program that has workers work, as its flags say.
type Program struct {
	Player
	Name string
	// N is how many are played at once.
	N int
	// Screens asks for what pawl printed where it is not as it should be.
	Screens bool
	only    string
}

// Main reads the flags, does the program's work in a folder of its own, and ends: with status 1 where not all is as it
// should be.
func (p *Program) Main(work func(context.Context) (good bool, err error)) {
	flag.StringVar(&p.only, "only", "", "those alone in whose names one of these words is, between commas")
	flag.IntVar(&p.N, "n", runtime.NumCPU()+1, "play so many at once")
	flag.BoolVar(&p.Screens, "screens", false, "print what pawl printed where it is not as it should be")
	flag.BoolVar(&p.Keep, "keep", false, "leave the folders where they are and say where")
	flag.StringVar(&p.Pawl, "pawl", "", "the program to try (default: it is built)")
	flag.StringVar(&p.Dir, "dir", "", "work below this folder (default: that for temporary files)")
	flag.DurationVar(&p.Patience, "patience", 15*time.Minute, "the limit of each command")
	flag.Parse()
	switch good, err := p.run(work); {
	case err != nil:
		fmt.Fprintln(os.Stderr, p.Name+":", err)
		os.Exit(2)
	case !good:
		os.Exit(1)
	}
}

func (p *Program) run(work func(context.Context) (bool, error)) (good bool, err error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	dir, done, err := firstrun.Ground(p.Dir, p.Name, p.Keep)
	if err != nil {
		return false, err
	}
	defer done()
	p.Dir = dir
	return work(ctx)
}

// Wants reports whether the one of a name is to be played.
func (p *Program) Wants(name string) bool {
	return slices.ContainsFunc(strings.Split(p.only, ","), func(w string) bool { return strings.Contains(name, w) })
}

// Build builds the program to try from the module that the working folder is the top of, unless one is given.
func (p *Program) Build(ctx context.Context) (err error) {
	p.Pawl, err = firstrun.Built(ctx, p.Pawl, ".", p.Dir)
	return err
}
