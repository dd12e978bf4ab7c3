package machine

// cells is an index of rows by two words, with open addressing: a row stands in the first empty cell at or behind the
// spot of its words, and the search for it ends at an empty cell. The number of cells is a power of two, at least four
// times that of the rows, so that nearly every search ends at its first cell.
type cells[S, E ~string] []*Rule[S, E]

func makeCells[S, E ~string](rows int) cells[S, E] {
	n := 4
	for n < 4*rows {
		n *= 2
	}
	return make(cells[S, E], n)
}

// at returns the row of a cell, or nil. Cells are counted round and round.
func (c cells[S, E]) at(i uint) *Rule[S, E] { return c[i&uint(len(c)-1)] }

// put enters a row behind those that were put at the same spot before, so that the first one is found first.
func (c cells[S, E]) put(at uint, r *Rule[S, E]) {
	for c.at(at) != nil {
		at++
	}
	c[at&uint(len(c)-1)] = r
}

// spot is where the search for two words begins. Their lengths and ends tell the names of states and events apart.
func spot(a, b uint) uint { return (a*0x9e3779b1 ^ b) * 0x85ebca6b >> 15 }

// ends is the length of a word with its first and its last byte.
func ends[T ~string](s T) uint {
	n := len(s)
	if n == 0 {
		return 0
	}
	return uint(n) | uint(s[0])<<8 | uint(s[n-1])<<16
}
