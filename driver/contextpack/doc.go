// Package contextpack builds an effect.ContextPack: what an agent has to know of a workspace for one requirement,
// within a budget of tokens (docs/spec/turn.md#context-pack).
//
// Reading and ranking are apart. Reading walks the tree through package sandbox and reduces each file to facts: its
// declarations with the lines that they take, the names that each of them uses, and the words of the text. Go is read
// by go/parser, other languages by universal-ctags behind the walls where it is installed and by their outline
// otherwise. Facts are kept in memory and in .pawl/cache/context; a file whose size, times and inode are unchanged is
// not opened again, and one that only looks new is not analysed again. What ranking needs of all files together is
// brought up to date for those that changed.
//
// Ranking is a function of the facts, the requirement and the text of the files that look best: words and names are
// weighed by how rare they are, and what they find is followed along the references between declarations, so that a
// requirement which names a failing test leads to the function that the test calls. What a check wrote, and what a
// person answered, count like the requirement. Of a failing test three things are made use of: the files and lines that
// it names; which declarations it reaches and the tests beside it do not, as far as names tell, because there a fault
// is likely; and who uses the values in which the words of its message are written, because there the error is raised.
//
// Words are looked up in the facts rather than by rg or git grep, and the pack says so. The facts are at hand anyway:
// among 5,000 files all words of a requirement are looked up within ten milliseconds, where one git grep for some of
// them takes three hundred and more, because it reads every file. And the answer does not depend on which of these
// programs a machine has or on what git tracks.
//
// They are not kept in SQLite's FTS5 either, by measurement (BenchmarkFTS5). Its tokenizers split neither names into
// their parts nor Chinese; with words that are split before, analysing a tree for the first time takes one and a half
// times as long, and a first pack may not. With trigrams it takes more than ten times as long, and what is shorter than
// three characters is not found. FTS5's ranking puts the file that failing tests are about on lower places than the one
// here, and the references between declarations would have to be held beside it all the same.
//
// Nothing here uses a model. Everything that a pack quotes is data of the workspace: what would not print is removed,
// and rules that the project gives to agents carry the name of the file that they come from.
package contextpack
