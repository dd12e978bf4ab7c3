// Package contextpack builds an effect.ContextPack: what an agent has to know of a workspace for one requirement,
// within a budget of tokens (docs/spec/turn.md#context-pack).
//
// Build searches the files of the tree for the words of the requirement, as grep would, without regard to case. The
// files that hold the rarest of them are outlined: a declaration begins at a line with a keyword and a name, and ends
// where the indentation does. Declarations are ranked by the words in their names and in their text; what the best of
// them use comes next, so that a requirement which names a failing test leads to the function that the test calls.
// What a check wrote and what a person answered count like the requirement.
//
// Nothing is kept between two packs, and no other program is asked: the answer depends on the tree and the requirement
// alone. Text that a pack quotes is data of the workspace: what would not print is removed, and rules that the project
// gives to agents name the file that they come from.
package contextpack
