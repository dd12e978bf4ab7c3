package firstrun

import (
	"fmt"
	"strings"
)

// Table is the rows in Markdown, with the dead ends and their exact messages below it.
func Table(rows []Row) string {
	var b strings.Builder
	b.WriteString("| folder | way | verdict | exit | state | s | fault told | checks that pass in a clean clone | the next command |\n|---|---|---|---|---|---|---|---|---|\n")
	for _, r := range rows {
		told, next := "", ""
		if r.Told {
			told = "yes"
		}
		if len(r.Tries) > 0 {
			var all []string
			for _, t := range r.Tries {
				played := ""
				if t.Played != "" {
					played = ", the person " + t.Played
				}
				all = append(all, fmt.Sprintf("`%s` (%d%s)", t.Command, t.Status, played))
			}
			next = strings.Join(all, ", ")
		} else if len(r.Named) > 0 && r.Verdict != Done {
			next = "`" + r.Named[0] + "`"
		}
		status, seconds := fmt.Sprint(r.Status), fmt.Sprintf("%.1f", r.Seconds)
		if r.Verdict == NotTried {
			status, seconds, next = "", "", r.Why
		}
		says := r.Says
		if r.Note != "" {
			says += " (" + r.Note + ")"
		}
		cells := []string{says, string(r.Way), string(r.Verdict), status, r.State, seconds, told,
			strings.Join(r.Checks, ", "), next}
		for i, c := range cells {
			cells[i] = strings.ReplaceAll(strings.ReplaceAll(c, "|", "\\|"), "\n", " ")
		}
		b.WriteString("| " + strings.Join(cells, " | ") + " |\n")
	}
	for _, r := range rows {
		if r.Verdict.Bad() {
			fmt.Fprintf(&b, "\n**%s, %s** (floor %s): %s: %s\n", r.Says, r.Way, r.Floor, r.Verdict, r.Why)
			fmt.Fprintf(&b, "- `%s` exit %d: %s\n", first(r), r.Status, r.Message)
			for _, t := range r.Tries {
				played := ""
				if t.Played != "" {
					played = ", the person " + t.Played
				}
				fmt.Fprintf(&b, "- `%s` exit %d%s: %s\n", t.Command, t.Status, played, t.Message)
			}
		}
	}
	return b.String() + "\n" + Count(rows) + "\n"
}

func first(r Row) string {
	if len(r.Screens) == 0 {
		return ""
	}
	line, _, _ := strings.Cut(strings.TrimPrefix(r.Screens[0], "$ "), "\n")
	return line
}

// Count says in one line what came of the rows.
func Count(rows []Row) string {
	n := map[Verdict]int{}
	for _, r := range rows {
		n[r.Verdict]++
	}
	var out []string
	for _, v := range []Verdict{Done, DoneNext, ByHand, Yours, DeadEnd, Unproven, NotTried} {
		if n[v] > 0 {
			out = append(out, fmt.Sprintf("%d %s", n[v], v))
		}
	}
	return fmt.Sprintf("%d ways: %s", len(rows), strings.Join(out, ", "))
}
