// Package script is the embedded agent. It needs no model and never guesses: it judges requirements by their words
// (package triage), it hands over a plan that somebody wrote, it plans requirements of one narrow kind (make the checks
// pass, fix the formatting, fix lint, tidy the dependencies; English and Chinese), and it repairs with the project's
// own fixers where they are installed. The same question gets the same answer every time. Like every agent it proposes
// steps and neither runs anything nor writes state.
package script
