package web

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"github.com/a-h/templ"

	"pawl/kernel/view"
)

func (s *reader) workers(ctx context.Context, p *page, _ *http.Request) (templ.Component, error) {
	p.title, p.here = p.Text("web.workers"), "workers"
	claims, err := s.ask.Board().Workers(ctx)
	if err != nil {
		return nil, err
	}
	var owner *view.Owner
	if s.Owner != nil {
		owner = s.Owner()
	}
	return workersView(p, claims, owner), nil
}

func (s *reader) costs(ctx context.Context, p *page, _ *http.Request) (templ.Component, error) {
	p.title, p.here = p.Text("web.costs"), "costs"
	c, err := s.ask.Ledger().Costs(ctx, s.Kernel.Config().Budgets)
	return costsView(p, c), err
}

// Bounds of the picture of a graph: how many issues are looked at, and drawn.
const (
	maxGraph = 2000
	maxBoxes = 300
)

func (s *reader) graph(ctx context.Context, p *page, _ *http.Request) (templ.Component, error) {
	p.title, p.here = p.Text("web.graph"), "graph"
	g, err := s.ask.Board().Graph(ctx, maxGraph)
	if err != nil {
		return nil, err
	}
	return graphView(p, draw(g)), nil
}

// Sizes of a drawn graph, in units of its picture.
const (
	boxWide, boxHigh = 190, 46
	gapWide, gapHigh = 56, 14
)

// diagram is a graph as a picture: a column for each layer.
type diagram struct {
	view.Graph
	Wide, High int
	Boxes      []box
	Ways       []way
	// Alone are how many issues wait for none and have none wait for them, and Left how many more are not drawn.
	Alone, Left int
}

// box is an issue of a picture.
type box struct {
	view.GraphNode
	X, Y     int
	Critical bool
}

// way leads from what comes first to what waits for it.
type way struct {
	Path     string
	Critical bool
}

// draw puts the issues that are linked to others into their places.
func draw(g view.Graph) diagram {
	d := diagram{Graph: g}
	linked, critical := map[string]bool{}, map[string]int{}
	for _, n := range g.Nodes {
		for _, on := range n.After {
			linked[on], linked[n.Label] = true, true
		}
	}
	for n, label := range g.Critical {
		critical[label] = n + 1
	}
	rows, at := map[int]int{}, map[string]box{}
	nodes := slices.Clone(g.Nodes)
	// What is on the critical path stands at the top of its column, and is drawn in any case.
	slices.SortStableFunc(nodes, func(a, b view.GraphNode) int {
		return min(critical[b.Label], 1) - min(critical[a.Label], 1)
	})
	for _, n := range nodes {
		switch {
		case !linked[n.Label]:
			d.Alone++
			continue
		case len(d.Boxes) == maxBoxes:
			d.Left++
			continue
		}
		b := box{GraphNode: n, X: n.Layer * (boxWide + gapWide), Y: rows[n.Layer] * (boxHigh + gapHigh),
			Critical: critical[n.Label] > 0}
		rows[n.Layer]++
		at[n.Label] = b
		d.Boxes = append(d.Boxes, b)
		d.Wide, d.High = max(d.Wide, b.X+boxWide), max(d.High, b.Y+boxHigh)
	}
	for _, b := range d.Boxes {
		for _, on := range b.After {
			from, ok := at[on]
			if !ok {
				continue
			}
			x, y, to := from.X+boxWide, from.Y+boxHigh/2, b.Y+boxHigh/2
			d.Ways = append(d.Ways, way{fmt.Sprintf("M%d %d C%d %d %d %d %d %d", x, y, x+gapWide/2, y, b.X-gapWide/2, to, b.X, to),
				critical[on] > 0 && critical[b.Label] == critical[on]+1})
		}
	}
	return d
}

// frame is the view of a picture with a margin.
func (d diagram) frame() string {
	return fmt.Sprintf("-4 -4 %d %d", d.Wide+8, d.High+8)
}

// brief is a title as short as a box is.
func brief(s string) string {
	room := 24
	s = title(s)
	for n, r := range s {
		if room--; r > 0x1100 { // such characters are as wide as two others
			room--
		}
		if room < 0 {
			return s[:n] + "…"
		}
	}
	return s
}

// measure is a length of a bar, in hundredths of the largest.
func measure(of, largest int64) string {
	if largest <= 0 || of <= 0 {
		return "0"
	}
	return strconv.FormatFloat(min(float64(of)/float64(largest)*100, 100), 'f', 2, 64)
}

// dearest is the largest amount of lines, or of what they may cost.
func dearest(lines []view.CostLine) (most int64) {
	for _, l := range lines {
		most = max(most, l.Limit, l.Held.MicroUSD+l.Spent.MicroUSD)
	}
	return max(most, 1)
}

// pillar is a bar of a plot that stands: what was spent and held on one day, and where the limit is.
type pillar struct{ X, Wide, Spent, Held, Limit string }

// pillars are days as a plot, the oldest first, of at most a month.
func pillars(days []view.CostLine) (out []pillar) {
	days = slices.Clone(days[:min(len(days), 31)])
	slices.Reverse(days)
	largest := dearest(days)
	wide := 100 / float64(max(len(days), 7))
	for n, d := range days {
		out = append(out, pillar{X: strconv.FormatFloat(float64(n)*wide, 'f', 2, 64),
			Wide: strconv.FormatFloat(wide*.8, 'f', 2, 64), Spent: measure(d.Spent.MicroUSD, largest),
			Held: measure(d.Held.MicroUSD, largest), Limit: measure(d.Limit, largest)})
	}
	return out
}
