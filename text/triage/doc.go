// Package triage judges an input before anything else looks at it (docs/spec/workflow.md#ehrb to
// docs/spec/workflow.md#paths): where it is to go (Decide), how complete the requirement in it is and what to ask
// (Evaluate), which path it takes (Factors.Path) and when it outgrows that path (Outgrown), and whether it would do
// something of extremely high risk (Detect, DetectPlan, DetectCommand, DetectChange).
//
// Everything is a pure function of its arguments, in English and Chinese alike. A person's words are only ever read: no
// text, whatever it says, makes a function do anything. An Evaluation may come from Evaluate or from a model; Decode
// holds that of a model against the text which it judges, so that both are the same document with the same guarantees.
//
// The embedded agent's judgements rest on the words of the text. They do not understand it: they are made to be right
// about plain requests, to ask where they cannot tell, and to be checked by a person before anything is done.
package triage
