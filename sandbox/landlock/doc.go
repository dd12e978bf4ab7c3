// Package landlock takes a thread, and what it starts afterwards, into a Landlock domain: what the domain handles is
// denied unless a rule grants it. It is the kernel's interface and nothing more; who may do what is decided by package
// sandbox.
package landlock
