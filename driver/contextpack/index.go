package contextpack

import "time"

// stamp tells whether a file is as it was, without opening it.
type stamp struct {
	size, mtime int64
	ino         uint64
}

// entry is a file of the index. Entries are never changed once they are in it.
type entry struct {
	path  string
	stamp stamp
	sum   [16]byte // of the content, for a file that only looks different
	// young says that the file was so new when it was read that a change after that may have left its time alone.
	young bool
	*facts
}

// youth is how long a file counts as young: the coarsest clock of the file systems in use ticks every two seconds.
const youth = 2 * time.Second

// index is what is known of one tree. The table is shared by all indexes of a Builder.
type index struct {
	t     *table
	files map[string]*entry
	// list is the same files in the order of the walk.
	list []*entry
	// corpus is what ranking needs, made from files; nil when they changed.
	corpus *corpus
}
