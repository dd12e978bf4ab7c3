// Package contextpack builds an effect.ContextPack: what an agent has to know of a workspace for one requirement, within a
// budget of tokens (spec.md §2.4).
//
// Reading and ranking are apart. Reading walks the tree through package sandbox and reduces each file to facts: its
// declarations with the lines that they take, the names that each of them uses, and the words of the text. Go is read by
// go/parser, other languages by universal-ctags behind the walls where it is installed and by their outline otherwise.
// Facts are kept in memory and in .pawl/cache/context; a file whose size, times and inode are unchanged is not opened
// again, and one that only looks new is not analysed again. Ranking is a pure function of the facts, the
// requirement and the text of the files that look best: words and names are weighed by how rare they are, and what they
// find is followed along the references between declarations, so that a requirement which names a failing test leads to
// the function that the test calls.
//
// Words are looked up in the facts rather than by rg or git grep. The facts have to be read anyway, looking them up takes a
// few milliseconds, and the answer does not depend on which of these programs a machine has or on what git tracks.
//
// Nothing here uses a model. Everything that a pack quotes is data of the workspace: what would not print is removed, and
// rules that the project gives to agents carry the name of the file that they come from.
package contextpack
