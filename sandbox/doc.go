// Package sandbox runs commands on behalf of tools; with the packages below it, it is the only one of pawl that starts
// processes. Files of a workspace are opened by sandbox/safeopen.
//
// # Processes
//
// A Box runs one command behind walls and returns when no process of it is left. The walls, from the outside in:
//
//   - namespaces of its own (user, pid, mount, ipc, uts, cgroup, and network unless it was granted), made by bubblewrap
//     where that is installed and by pawl itself otherwise;
//   - a file system in which everything is read-only but the writable paths of the Spec, /tmp is private, and secrets
//     and other programs' sockets are covered;
//   - no capabilities, no_new_privs, resource limits, and a cgroup where one can be made;
//   - a Landlock domain and a seccomp filter, which repeat the boundary should one of the layers above have a hole.
//
// A command that cannot be put behind these walls is put on the floor, and refused with pawl.CodeSandbox where that
// does not hold either; nothing ever runs open, unless a person has said that the machine itself is the wall
// (MechanismOuter).
//
// # The floor
//
// MechanismLandlock needs no namespaces and no privilege. Nothing can be put over a path there, so the Landlock domain
// grants reading to all but what is hidden, directory by directory, and writing to the writable paths. /tmp belongs to
// everybody and is not granted; TMPDIR and HOME name a private folder that is removed with the command. The filter
// refuses every socket but those of TCP and connected unix ones, signals and limits for others, shared memory and
// messages of System V, and hands over what it cannot judge to the launcher, which decides it (package mediate): the
// command connects to its own servers and to the gates of its Egress and to nothing else, what it listens on is heard
// on the loopback alone, and modes, times and the names around a protected .git change only where they may. The
// launcher has adopted the command's orphans and ends them all; it outlives pawl for that, and ends them too when pawl
// is gone.
//
// What does not work there: UDP, terminals of one's own, System V and POSIX message queues, extended attributes, and
// listing directories that hold something hidden, such as / and the home. Weaker names what is not held.
//
// # The launcher
//
// The walls are raised from the inside: Box.Run starts the running executable again, and Child, called first thing in
// main, turns that second process into the launcher. It is process 1 of the pid namespace where there is one, reads its
// order from an inherited socket (so that neither arguments nor environment of the command show up in ps), raises the
// walls, starts the command, reaps orphans and reports the status. Where there is a namespace the kernel kills whatever
// is left in a pid namespace when process 1 ends, and the launcher ends when its socket closes, so a pawl that is
// killed takes its commands along.
//
// The launcher is forked inside its cgroup. A process that is moved into one later makes the kernel wait for a moment
// in which no processor forks or exits, which costs several times as much as everything else about a short command.
//
// A Box with Options.Ready starts the launcher of the next command when a command has ended. Such a launcher has its
// namespaces and its cgroup, and has raised nothing: all that a command may see or do is in the order that it waits
// for. It serves one command and ends, and it ends without one after a few seconds, at Box.Close, with pawl, and when
// the mounts that it took a copy of have changed.
//
// Loopback inside the command's own network namespace is up: tests that talk to a server of their own pass, and nothing
// outside the namespace hears them.
package sandbox
