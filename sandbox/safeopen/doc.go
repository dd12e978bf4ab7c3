// Package safeopen opens files below a directory so that no name leads out of it, while others change the tree. Tools,
// and whatever reads a workspace for one, open its files here and nowhere else.
//
// A Root holds a directory by descriptor. No name given to it leads outside: not "..", not an absolute name, not a
// symbolic link, and not a link that is swapped between check and use. It walks a name one component at a time, each
// opened by its single name from the one before it, and compares what it opened with what it had looked at. A Dir is
// one open directory of a Root, for reading many of its entries without another walk.
//
// What the descriptor alone does not stop is refused by extra checks: writes through hard links, FIFOs, devices,
// sockets, and changes to .git and .pawl (docs/spec/threats.md#finding-4, docs/spec/threats.md#files).
package safeopen
