// Package mediate decides the system calls that the floor's filter hands over: those whose arguments lie in memory, so
// that a filter cannot judge them, and that Landlock does not judge or cannot judge finely enough.
//
//   - connect, bind and listen: a command reaches the servers that it started itself and the gates of its order, and nothing
//     else of the machine; what it listens on is heard on the loopback alone.
//   - changes of modes and times: within the writable paths.
//   - opening for writing, and making, moving and removing names, where a writable directory holds something that is not
//     writable, such as .git: Landlock grants a directory only with all that is below it.
//   - signals, where the kernel's Landlock does not keep them within the command: to the command's own processes.
//
// The program that made a call goes on in its other threads, and may change what the arguments point to. So nothing is
// looked at twice: the Supervisor reads an argument once, takes hold of what it leads to, judges that, and carries the
// call out itself on what it holds. It lets the kernel carry a call out only where the kernel's own walls judge that
// call rightly as well.
package mediate
