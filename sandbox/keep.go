package sandbox

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
)

// keeper takes in a stream of any length and keeps its first and its last bytes, its length and its digest. Its memory
// grows with the stream up to the limit and no further.
type keeper struct {
	half  int
	head  []byte
	tail  []byte // a ring once it holds half bytes; next is then its oldest byte
	next  int
	total int64
	sum   hash.Hash
}

func newKeeper(limit int64) *keeper {
	if limit <= 0 {
		limit = DefaultOutputLimit
	}
	return &keeper{half: int(max(min(limit, maxOutputLimit)/2, 1)), sum: sha256.New()}
}

// Write never fails.
func (k *keeper) Write(p []byte) (int, error) {
	n := len(p)
	k.total += int64(n)
	k.sum.Write(p)
	if room := k.half - len(k.head); room > 0 {
		room = min(room, len(p))
		k.head = append(k.head, p[:room]...)
		p = p[room:]
	}
	if len(p) > k.half {
		p = p[len(p)-k.half:]
	}
	if room := min(k.half-len(k.tail), len(p)); room > 0 {
		k.tail = append(k.tail, p[:room]...)
		p = p[room:]
	}
	for len(p) > 0 {
		c := copy(k.tail[k.next:], p)
		k.next = (k.next + c) % k.half
		p = p[c:]
	}
	return n, nil
}

// cut is the number of bytes that were not kept.
func (k *keeper) cut() int64 { return k.total - int64(len(k.head)+len(k.tail)) }

// bytes returns what was kept in order, with one line between the halves where something is missing.
func (k *keeper) bytes() []byte {
	marker := ""
	if n := k.cut(); n > 0 {
		marker = fmt.Sprintf("\n[... %d bytes ...]\n", n)
	}
	out := make([]byte, 0, len(k.head)+len(marker)+len(k.tail))
	out = append(append(out, k.head...), marker...)
	out = append(out, k.tail[k.next:]...)
	return append(out, k.tail[:k.next]...)
}

func (k *keeper) digest() string { return hex.EncodeToString(k.sum.Sum(nil)) }
