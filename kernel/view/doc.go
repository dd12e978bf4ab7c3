// Package view says what people and programs are shown: typed views of the session, tasks, plans and results, which are
// the public JSON of every face, and the projections, which are the files below .pawl that the seeds name. Everything
// is a pure function of values that the kernel fills in. Views hold keys of the message catalogue with their arguments
// and never text of a language; only the projections have words, and those are the fixed ones of the seeds.
//
// Text that a person, a file or an agent wrote is data: whatever it contains, a projection keeps its form.
package view
