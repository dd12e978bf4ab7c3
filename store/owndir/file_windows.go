package owndir

import "io/fs"

// openFlags are not needed: Windows opens no pipe or device by a name inside a directory.
const openFlags = 0

// links cannot be told from the information that a directory gives.
func links(fs.FileInfo) uint64 { return 1 }

// device cannot be told either.
func device(fs.FileInfo) uint64 { return 0 }

// owned cannot be told either.
func owned(fs.FileInfo) bool { return true }
