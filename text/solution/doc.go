// Package solution knows solution packages, the documents in which a person and pawl agree on a piece of work
// (docs/spec/workflow.md#packages): a folder plan/YYYYMMDDHHMM_feature with proposal.md and tasks.md, which moves into
// the archive when the work is over, and the index of that archive. It names packages, writes and reads their files,
// judges whether a package is whole and can be carried out, and says how one is archived.
//
// Each kind of file has two forms. A value, such as Tasks, is what the file says; its Render writes a new file. A file,
// such as TaskFile, is the text that somebody else may have written: it is never rendered anew, its edits change the
// lines that they name, and everything else, known or not, stays where it stands, byte for byte.
//
// The texts of a value are Markdown, of one line where the document has one line for them. Whatever they contain, a
// rendered file keeps its form: as many tasks, sections and rows as the value has. The words of the documents are those
// of the seed and their English equals; both languages are read, whichever is written.
//
// Everything is a pure function. Findings about documents name the place and a key of the message catalogue.
package solution
