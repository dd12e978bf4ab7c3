package archtest

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"math/bits"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// upwards says how many arrows between the files of a package run back up, in the best order that there is. The numbers
// only become smaller: a package that reads from top to bottom can be divided, one whose files all know each other is
// one file in several pieces.
var upwards = map[string]int{"face/cli": 10, "driver/contextpack": 0, "kernel": 0, "sandbox": 0, "sandbox/git": 0}

// drawing is a package as its files use each other.
type drawing struct {
	files []string
	uses  [][]bool // by the places of two files: the first uses something that the second declares
}

// arrows are the pairs of files of which one uses the other.
func (d *drawing) arrows() (n int) {
	for _, row := range d.uses {
		for _, used := range row {
			if used {
				n++
			}
		}
	}
	return n
}

// drawn are the drawings of the packages of upwards, by package. A use is one of a constant, variable, type, function
// or method; that of a field goes with its type.
func drawn(t *testing.T) map[string]*drawing {
	t.Helper()
	if drawings != nil {
		return drawings
	}
	args := []string{"-deps", "-export", "-json=ImportPath,Dir,GoFiles,Export"}
	for rel := range upwards {
		args = append(args, "./"+rel)
	}
	all, err := list(args...)
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	exports := map[string]string{}
	for _, p := range all {
		exports[p.ImportPath] = p.Export
	}
	config := types.Config{Importer: importer.ForCompiler(fset, "gc",
		func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })}
	drawings = map[string]*drawing{}
	for _, p := range all {
		rel, ok := strings.CutPrefix(p.ImportPath, module+"/")
		if _, wanted := upwards[rel]; !ok || !wanted {
			continue
		}
		var trees []*ast.File
		for _, name := range p.GoFiles {
			trees = append(trees, parse(t, filepath.Join(p.Dir, name)).tree)
		}
		if drawings[rel], err = draw(config, p.ImportPath, trees); err != nil {
			t.Fatal(err)
		}
	}
	return drawings
}

var drawings map[string]*drawing

// draw finds out which files of a package use which.
func draw(config types.Config, path string, trees []*ast.File) (*drawing, error) {
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	p, err := config.Check(path, fset, trees, info)
	if err != nil {
		return nil, err
	}
	d := &drawing{}
	places := map[*token.File]int{}
	for i, tree := range trees {
		file := fset.File(tree.FileStart)
		places[file] = i
		d.files = append(d.files, filepath.Base(file.Name()))
		d.uses = append(d.uses, make([]bool, len(trees)))
	}
	for id, object := range info.Uses {
		if object.Pkg() != p {
			continue
		}
		if f, ok := object.(*types.Func); !ok && object.Parent() != p.Scope() {
			continue
		} else if ok {
			object = f.Origin()
		}
		if from, to := places[fset.File(id.Pos())], places[fset.File(object.Pos())]; from != to {
			d.uses[from][to] = true
		}
	}
	return d, nil
}

// up are the arrows that run back up when the files stand in the order in which the fewest do. Only files that reach
// each other can have any, so that each circle of them is put in order by itself.
func (d *drawing) up() (arrows []string) {
	for _, circle := range d.circles() {
		order := d.order(circle)
		for i, from := range order {
			for _, to := range order[:i] {
				if d.uses[from][to] {
					arrows = append(arrows, d.files[from]+" → "+d.files[to])
				}
			}
		}
	}
	return arrows
}

// circles are the largest sets of files that reach each other.
func (d *drawing) circles() (out [][]int) {
	reach := make([][]bool, len(d.files))
	for i := range reach {
		reach[i] = slices.Clone(d.uses[i])
	}
	for via := range reach {
		for from := range reach {
			for to := range reach {
				reach[from][to] = reach[from][to] || reach[from][via] && reach[via][to]
			}
		}
	}
	seen := make([]bool, len(d.files))
	for i := range reach {
		var circle []int
		for j := range reach {
			if !seen[j] && reach[i][j] && reach[j][i] {
				seen[j] = true
				circle = append(circle, j)
			}
		}
		if len(circle) > 0 {
			out = append(out, circle)
		}
	}
	return out
}

// order is the order of files in which the fewest arrows run up. It is found by the best order of each set of them that
// can stand above the others, of which there are 2 to the power of their number.
func (d *drawing) order(files []int) []int {
	out := make([]uint32, len(files)) // whom a file uses, as a set
	for i, from := range files {
		for j, to := range files {
			if d.uses[from][to] {
				out[i] |= 1 << j
			}
		}
	}
	// fewest is how many arrows run up among a set of files at least, and last is the one that stands lowest then.
	fewest, last := make([]uint16, 1<<len(files)), make([]uint8, 1<<len(files))
	for set := uint32(1); set < 1<<len(files); set++ {
		best := ^uint16(0)
		for rest := set; rest != 0; rest &= rest - 1 {
			i := bits.TrailingZeros32(rest)
			above := set &^ (1 << i)
			if n := fewest[above] + uint16(bits.OnesCount32(out[i]&above)); n < best {
				best, last[set] = n, uint8(i)
			}
		}
		fewest[set] = best
	}
	var order []int
	for set := uint32(1)<<len(files) - 1; set != 0; set &^= 1 << last[set] {
		order = append(order, files[last[set]])
	}
	slices.Reverse(order)
	return order
}

func TestArrowsRunDown(t *testing.T) {
	all := drawn(t)
	for rel, most := range upwards {
		switch up := all[rel].up(); {
		case len(up) > most:
			t.Errorf("%d arrows between the files of %s run up, at most %d; in the best order:\n%s", len(up), rel, most,
				strings.Join(up, "\n"))
		case len(up) < most:
			t.Errorf("%d arrows between the files of %s run up; put that number in the place of %d", len(up), rel, most)
		}
	}
}

// TestArrowsAreCounted guards the count.
func TestArrowsAreCounted(t *testing.T) {
	var trees []*ast.File
	for name, text := range map[string]string{
		"a.go": "package x\ntype A struct{ field int }\nfunc (a A) Go() { b(); var local int; _ = local }\n",
		"b.go": "package x\nfunc b() { var a A; a.Go(); a.field = c; g[int](1) }\n",
		"c.go": "package x\nconst c = 1\n",
		"d.go": "package x\ntype D interface{ Go() }\nfunc d(i E) { i.Go() }\nfunc g[T any](t T) {}\n",
		"e.go": "package x\ntype E = D\nvar _ = func(c int) int { return c }\n",
	} {
		tree, err := parser.ParseFile(fset, name, text, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		trees = append(trees, tree)
	}
	slices.SortFunc(trees, func(x, y *ast.File) int { return int(x.FileStart - y.FileStart) })
	d, err := draw(types.Config{}, "x", trees)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i, row := range d.uses {
		for j, used := range row {
			if used {
				got = append(got, strings.TrimSuffix(d.files[i], ".go")+strings.TrimSuffix(d.files[j], ".go"))
			}
		}
	}
	slices.Sort(got)
	if text := strings.Join(got, " "); text != "ab ba bc bd de ed" || d.arrows() != 6 {
		t.Errorf("arrows %s, %d", text, d.arrows())
	}
	if up := d.up(); len(up) != 2 {
		t.Errorf("%q run up", up)
	}
	// A circle of which every file uses the next one needs one arrow up; one that is used by all others stands at the
	// end.
	ring := &drawing{files: []string{"0", "1", "2", "3"},
		uses: [][]bool{{false, true, false, true}, {false, false, true, true}, {true, false, false, true},
			make([]bool, 4)}}
	if up := ring.up(); len(up) != 1 || ring.arrows() != 6 || len(ring.circles()) != 1 {
		t.Errorf("%q of %d run up, in %d circles", up, ring.arrows(), len(ring.circles()))
	}
}
