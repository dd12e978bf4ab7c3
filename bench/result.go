package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
)

// Figure is a measured value with its unit: "ns" for durations, "/s" for rates, or a plain count.
type Figure struct {
	Value float64 `json:"value"`
	Unit  string  `json:"unit"`
}

func took(d time.Duration) Figure        { return Figure{float64(d.Nanoseconds()), "ns"} }
func tookNanos(n float64) Figure         { return Figure{n, "ns"} }
func rate(perSecond float64) Figure      { return Figure{perSecond, "/s"} }
func count(n float64, of string) Figure  { return Figure{n, of} }
func (f Figure) none() bool              { return f.Unit == "" }
func (f Figure) duration() time.Duration { return time.Duration(f.Value) }

// String shows three digits that count: 312 ns, 4.21 ms, 5,310/s.
func (f Figure) String() string {
	switch f.Unit {
	case "":
		return "–"
	case "ns":
		return short(f.Value)
	case "/s":
		return grouped(f.Value) + "/s"
	}
	return strconv.FormatFloat(f.Value, 'f', -1, 64) + " " + f.Unit
}

// short writes nanoseconds in the unit that fits.
func short(ns float64) string {
	for _, u := range []struct {
		size float64
		name string
	}{{1e9, "s"}, {1e6, "ms"}, {1e3, "µs"}} {
		if ns >= u.size {
			return digits(ns/u.size) + " " + u.name
		}
	}
	return digits(ns) + " ns"
}

// digits writes a number with three digits that count.
func digits(v float64) string {
	decimals := 2
	switch a := math.Abs(v); {
	case a >= 100:
		decimals = 0
	case a >= 10:
		decimals = 1
	}
	return strconv.FormatFloat(v, 'f', decimals, 64)
}

// grouped writes a whole number with a comma at the thousands.
func grouped(v float64) string {
	s := strconv.FormatFloat(math.Round(v), 'f', 0, 64)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Result is one line of the table: what pawl does, what it is measured beside, and how that compares with the goal.
type Result struct {
	Bench string `json:"bench"`
	Case  string `json:"case"`
	Pawl  Figure `json:"pawl"`
	// Beside is the yardstick's figure in the same run, and Yardstick its name; both are empty for an absolute goal.
	Beside    Figure `json:"beside,omitzero"`
	Yardstick string `json:"yardstick,omitempty"`
	// Score is what the goal is about, in Unit: "×" for a ratio, "ms", "%" or a count.
	Score float64 `json:"score"`
	Unit  string  `json:"unit"`
	// Goal bounds the score from below, or from above with AtMost. NoGoal marks a line that is there for comparison.
	Goal   float64 `json:"goal"`
	AtMost bool    `json:"at_most"`
	NoGoal bool    `json:"no_goal,omitempty"`
	Note   string  `json:"note,omitempty"`
}

// Missed reports whether there is a goal and the score does not reach it.
func (r Result) Missed() bool {
	if r.NoGoal {
		return false
	}
	if math.IsNaN(r.Score) {
		return true
	}
	if r.AtMost {
		return r.Score > r.Goal
	}
	return r.Score < r.Goal
}

func (r Result) verdict() string {
	switch {
	case r.NoGoal:
		return ""
	case r.Missed():
		return "missed"
	}
	return "ok"
}

func (r Result) goal() string {
	if r.NoGoal {
		return ""
	}
	sign := "≥ "
	if r.AtMost {
		sign = "≤ "
	}
	return sign + strconv.FormatFloat(r.Goal, 'f', -1, 64) + unitSuffix(r.Unit)
}

func unitSuffix(unit string) string {
	if unit == "×" || unit == "%" || unit == "/s" {
		return unit
	}
	return " " + unit
}

func printTable(out io.Writer, rep report) error {
	head := rep.Machine + ", " + rep.Go + ", " + rep.At
	if rep.Load >= 0 {
		head += ", load " + strconv.FormatFloat(rep.Load, 'f', -1, 64)
	}
	if rep.busy() {
		head += "\nThe machine was busy when this began. Times look worse than they are, and ratios to R_a better: measure again when it is quiet."
	}
	if _, err := fmt.Fprintf(out, "%s\n\n", head); err != nil {
		return err
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, strings.Join([]string{"bench", "case", "pawl", "beside", "", "score", "goal", "", "notes"}, "\t"))
	for _, r := range rep.Results {
		score := digits(r.Score) + unitSuffix(r.Unit)
		if r.Unit == "allocs" {
			score = strconv.FormatFloat(r.Score, 'f', -1, 64) + " allocs"
		}
		fmt.Fprintln(w, strings.Join([]string{r.Bench, r.Case, r.Pawl.String(), r.Beside.String(), r.Yardstick, score,
			r.goal(), r.verdict(), r.Note}, "\t"))
	}
	return w.Flush()
}

// median returns the middle of the values, or NaN of none. It sorts a copy.
func median(values []float64) float64 { return quantile(values, 0.5) }

// quantile returns the value below which the part q of the values lies, with the mean of the two middle ones where the
// place falls between them, or NaN of none.
func quantile(values []float64, q float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	s := slices.Sorted(slices.Values(values))
	at := q * float64(len(s)-1)
	low := int(at)
	if low+1 == len(s) {
		return s[low]
	}
	part := at - float64(low)
	return s[low]*(1-part) + s[low+1]*part
}
