// Package seccomp makes the filters of system calls that hold commands, and speaks with the kernel about the calls that
// a filter hands over to be decided.
//
// There are two filters. Namespaces is for a command that has namespaces of its own: it refuses what changes the
// machine, looks into other processes, or makes and enters namespaces. Floor is for a command without any: it refuses
// more, and hands over the calls whose arguments a filter cannot judge, because they lie in memory.
package seccomp
