package sandbox

import "slices"

// Names of what commands can do or see because a layer is missing. They are append-only; the catalogue has a text for
// each, "sandbox.weak_" and the name.

// What the floor does not hold, although namespaces would.
const (
	// WeakProcesses: the names and command lines of the machine's processes can be seen. What they hold cannot.
	WeakProcesses = "processes"
	// WeakMetadata: that a file exists, its size and its times can be seen anywhere. Its contents cannot.
	WeakMetadata = "metadata"
	// WeakShared: memory that other programs of the user share by name in /dev/shm can be read and changed, and stays.
	WeakShared = "shared_memory"
	// WeakInside: what is hidden inside of a writable directory, such as .pawl of a folder that is worked in, can be
	// read.
	WeakInside = "inside"
	// WeakServers: other programs of this machine reach the servers that a command starts on the loopback.
	WeakServers = "servers"
	// WeakPlace: what checks judge is found at a path of pawl's own and in a home of pawl's own, so that code can tell
	// who runs it.
	WeakPlace = "place"
	// WeakTuning: the priority and the processors of other processes of the user can be changed.
	WeakTuning = "tuning"
)

// What is not held where the machine around is the wall and a layer of the floor is missing.
const (
	// WeakFiles: every file of the user can be read and changed.
	WeakFiles = "files"
	// WeakNetwork: the network can be used, and other processes of the user can be ended and looked into.
	WeakNetwork = "network"
)

// WeakLimits: nothing bounds the memory of a command, and processes only together with all others of the user.
const WeakLimits = "limits"

// Weaker lists what commands can do because the layers of a Result's Walls are all that held them; nil for none.
func Weaker(walls []string) []string {
	has := func(m string) bool { return slices.Contains(walls, m) }
	var out []string
	if len(walls) == 0 {
		return nil
	}
	if !has(string(MechanismNamespaces)) && !has(string(MechanismBubblewrap)) {
		if !has("landlock") {
			out = append(out, WeakFiles)
		}
		if !has("seccomp") {
			out = append(out, WeakNetwork)
		}
		out = append(out, WeakProcesses, WeakMetadata, WeakShared, WeakInside, WeakServers, WeakTuning, WeakPlace)
	}
	if !has("cgroup") {
		out = append(out, WeakLimits)
	}
	return out
}
