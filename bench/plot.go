package main

import (
	"fmt"
	"html"
	"math"
	"os"
	"path/filepath"
	"strings"
	"unicode"
)

// Series is one line of a plot: a duration in nanoseconds for each size, in the order of the sizes.
type Series struct {
	Name string
	Ys   []float64
}

// The measures of a plot, in the units of its view box: the whole, and the frame that the lines are drawn in.
const (
	plotWidth, plotHeight                    = 760.0, 420.0
	plotLeft, plotRight, plotTop, plotBottom = 76.0, 560.0, 52.0, 368.0
)

// plotColors tell lines apart, also for people who see red and green alike.
var plotColors = []string{"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00"}

// Plot writes a plot of durations over sizes into a folder and returns the file's name, which is made of the title. The
// axis of the sizes is logarithmic and that of the durations is not, so that logarithmic growth is a straight line. For
// each series that line is drawn dashed, from its first point on: growth is at most logarithmic where the series stays
// below it. Sizes must be greater than 1 and ascend.
func Plot(dir, title string, xs []float64, series []Series) (string, error) {
	for i, x := range xs {
		if x <= 1 || i > 0 && x <= xs[i-1] {
			return "", fmt.Errorf("plot %q: size %v is not greater than the one before", title, x)
		}
	}
	for _, s := range series {
		if len(s.Ys) != len(xs) || len(xs) < 2 {
			return "", fmt.Errorf("plot %q: %d values of %s for %d sizes", title, len(s.Ys), s.Name, len(xs))
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	name := filepath.Join(dir, slug(title)+".svg")
	return name, os.WriteFile(name, []byte(drawing(title, xs, series)), 0o644)
}

// slug makes the name of a file of a title.
func slug(title string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(title),
		func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }), "-")
}

// scale places values between two edges.
type scale struct{ from, to, low, high float64 }

func (s scale) at(v float64) float64 {
	return s.low + (v-s.from)/(s.to-s.from)*(s.high-s.low)
}

// drawing is the text of a plot.
func drawing(title string, xs []float64, series []Series) string {
	top := 0.0
	for _, s := range series {
		for i, y := range s.Ys {
			top = max(top, y, logarithmic(s, xs, i))
		}
	}
	step := niceStep(top / 5)
	x := scale{math.Log(xs[0]), math.Log(xs[len(xs)-1]), plotLeft, plotRight}
	y := scale{0, max(1, math.Ceil(top/step)) * step, plotBottom, plotTop}
	var b strings.Builder
	fmt.Fprintf(&b, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %g %g\" role=\"img\" font-family=\"sans-serif\" font-size=\"13\">\n", plotWidth, plotHeight)
	fmt.Fprintf(&b, "<title>%s</title>\n<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
		html.EscapeString(title))
	fmt.Fprintf(&b, "<text x=\"%g\" y=\"28\" font-size=\"16\">%s</text>\n", plotLeft, html.EscapeString(title))
	for n := 0.0; n*step <= y.to+step/2; n++ {
		at, text := y.at(n*step), "0"
		if n > 0 {
			text = short(n * step)
		}
		fmt.Fprintf(&b, "<path d=\"M%g %.1fH%g\" stroke=\"#ddd\"/>\n", plotLeft, at, plotRight)
		fmt.Fprintf(&b, "<text x=\"%g\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n", plotLeft-8, at+4, text)
	}
	for _, v := range xs {
		at := x.at(math.Log(v))
		fmt.Fprintf(&b, "<path d=\"M%.1f %gv5\" stroke=\"#999\"/>\n", at, plotBottom)
		fmt.Fprintf(&b, "<text x=\"%.1f\" y=\"%g\" text-anchor=\"middle\">%s</text>\n", at, plotBottom+22, grouped(v))
	}
	for i, s := range series {
		color := plotColors[i%len(plotColors)]
		var line, bound []string
		for j, v := range xs {
			line = append(line, fmt.Sprintf("%.1f,%.1f", x.at(math.Log(v)), y.at(s.Ys[j])))
			bound = append(bound, fmt.Sprintf("%.1f,%.1f", x.at(math.Log(v)), y.at(logarithmic(s, xs, j))))
		}
		fmt.Fprintf(&b, "<polyline points=\"%s\" fill=\"none\" stroke=\"%s\" stroke-dasharray=\"3 4\"/>\n",
			strings.Join(bound, " "), color)
		fmt.Fprintf(&b, "<polyline points=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"2\"/>\n",
			strings.Join(line, " "), color)
		for _, point := range line {
			at := strings.Split(point, ",")
			fmt.Fprintf(&b, "<circle cx=\"%s\" cy=\"%s\" r=\"3.5\" fill=\"%s\"/>\n", at[0], at[1], color)
		}
		fmt.Fprintf(&b, "<text x=\"%g\" y=\"%g\" fill=\"%s\">%s</text>\n", plotRight+16, plotTop+20*float64(i), color,
			html.EscapeString(s.Name))
	}
	fmt.Fprintf(&b, "<text x=\"%g\" y=\"%g\" fill=\"#666\">dashed: logarithmic</text>\n</svg>\n", plotRight+16, plotTop+
		20*float64(len(series)))
	return b.String()
}

// logarithmic is what a series would be at size i if it grew from its first value as the logarithm of the size.
func logarithmic(s Series, xs []float64, i int) float64 {
	return s.Ys[0] * math.Log(xs[i]) / math.Log(xs[0])
}

// niceStep rounds a distance between lines up to one, two or five times a power of ten.
func niceStep(v float64) float64 {
	if v <= 0 {
		return 1
	}
	power := math.Pow(10, math.Floor(math.Log10(v)))
	for _, m := range []float64{1, 2, 5} {
		if m*power >= v {
			return m * power
		}
	}
	return 10 * power
}
