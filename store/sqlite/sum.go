package sqlite

import (
	"database/sql/driver"
	"encoding/binary"
	"hash/crc32"
	"math"
	"time"

	"pawl/kernel"
)

// sumOf returns the checksum of a document.
func sumOf(body []byte) int64 { return int64(crc32.ChecksumIEEE(body)) }

// summer makes the checksums of rows. It keeps its buffer, and so is for one goroutine at a time.
type summer struct{ buf []byte }

// row returns the checksum of everything that is stored about a row but its position. The document is in it through its
// own checksum, which is nil where there is none.
func (m *summer) row(r *kernel.Row, docSum driver.Value) int64 {
	b := m.buf[:0]
	doc, ok := docSum.(int64)
	if !ok {
		doc = -1
	}
	for _, text := range [...]string{string(r.Kind), r.ID, r.Label, r.Parent, r.State} {
		b = binary.AppendUvarint(b, uint64(len(text)))
		b = append(b, text...)
	}
	for _, n := range [...]int64{r.Version, r.Epoch, r.Rank, r.AuditSeq, micros(r.Due), micros(r.CreatedAt),
		micros(r.UpdatedAt), doc} {
		b = binary.LittleEndian.AppendUint64(b, uint64(n))
	}
	b = append(b, r.AuditHash[:]...)
	m.buf = b
	return sumOf(b)
}

// micros is an instant as it is stored; none has a value of its own.
func micros(t time.Time) int64 {
	if t.IsZero() {
		return math.MinInt64
	}
	return t.UnixMicro()
}
