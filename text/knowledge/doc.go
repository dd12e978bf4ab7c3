// Package knowledge knows the knowledge base of a project, the documents in which pawl and people keep what they know
// of its code (docs/spec/workflow.md#workspace): INDEX.md, context.md, CHANGELOG.md with a shard for each past year,
// modules/_index.md and a document for each module. It decides by KB_CREATE_MODE what becomes of them, reads and writes
// them, and knows the rules of commit messages.
//
// What a person wrote is kept. Of INDEX.md, context.md and the documents of modules, pawl owns what stands between a
// line <!-- pawl:begin NAME --> and the line <!-- pawl:end NAME -->, and rewrites it; every other line stays as it is,
// byte for byte. Of CHANGELOG.md it owns nothing: it adds lines, and moves whole days to the shard of their year. A
// document whose marks do not pair, or that is no text, is refused and never written over.
//
// Everything is a pure function. The words of the documents are Chinese or English, and both are read, whichever is
// written.
package knowledge
