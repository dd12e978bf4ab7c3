// Package shell reads shell text without running it: it takes a text apart as bash would and tells a Visitor, in the
// order in which they stand there, which commands it would run and with which words, which files it would open, which
// variables it would set, and what of it cannot be known. It descends into lists, pipes, substitutions, functions,
// loops and here-documents, follows the folders that a shell may be in, and puts in variables to which the same text
// gives literal values, and braces.
//
// What a command does with its words is the visitor's business: a wrapper such as env or bash -c is a Call, whose words
// a visitor takes apart and, where one of them is a text again, has read by the same Reader.
//
// A text that bash may take apart otherwise than the parser did is refused (Ambiguous), and so is one that is too large
// or nested too deep. So what a visitor was told is what would run, or a doubt says where not.
//
// The package is pure: it reads no file, no clock and no environment.
package shell
