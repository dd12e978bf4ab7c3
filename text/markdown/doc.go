// Package markdown reads documents in Markdown line by line, each with its place: what is prose and what is code or a
// comment, headings, rows of tables, how far a line is indented. It says nothing of what a document means, and changes
// no line that it is not told to change. What the documents that pawl reads take differently is in Rules.
package markdown
