// Package backlog reads lists of issues that other tools and people keep (issue import, docs/spec/board.md#lists) into
// one form: state.json, records in JSON or JSONL (those of ccw, of GitHub's API and plain ones of a title and a body),
// and Markdown. It is pure: it reads from what it is given, and what becomes of the issues is for its caller.
//
// An import is all or nothing. What cannot be read, a dependency on an issue that is not there and dependencies in a
// circle are problems, named with file, line and JSON pointer, at most 20 at once; there is no input that is damaged
// and counts as empty. What is understood and not kept is a note. Sizes are bounded by MaxBytes and the other limits;
// records are read one after the other, so that memory holds what is kept and one record.
//
// Every issue has an external id, by which a second import finds it again: the file's own where there is one, the
// repository and number on GitHub, and else one that is made from the title. Compare tells what a second import
// changes.
package backlog
