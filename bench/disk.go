package main

import (
	"os"
	"path/filepath"
	"time"
)

// disk measures R_a, the yardstick of everything durable: how often in a second one thread can append 4 KiB to a file
// and have it on disk.
type disk struct {
	file *os.File
	page []byte
}

func openDisk(dir string) (*disk, error) {
	f, err := os.Create(filepath.Join(dir, "append"))
	if err != nil {
		return nil, err
	}
	return &disk{file: f, page: make([]byte, 4096)}, nil
}

// rate appends for the span and returns the appends per second.
func (d *disk) rate(span time.Duration) (float64, error) {
	n, start := 0, time.Now()
	for {
		if _, err := d.file.Write(d.page); err != nil {
			return 0, err
		}
		if err := flush(d.file); err != nil {
			return 0, err
		}
		n++
		if spent := time.Since(start); spent >= span {
			return float64(n) / spent.Seconds(), nil
		}
	}
}

func (d *disk) close() error { return d.file.Close() }
