package disk

import "os"

// Copy copies a file whole, for its owner alone, with its time: git compares that of an index with those of the files
// to see which it must look into.
func Copy(to, from string) error {
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	raw, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if err := os.WriteFile(to, raw, 0o600); err != nil {
		return err
	}
	return os.Chtimes(to, info.ModTime(), info.ModTime())
}
