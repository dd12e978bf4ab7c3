package display

import "strconv"

// Size says how many bytes that is, in the largest unit of which there are ten.
func Size(n uint64) string {
	units := []string{"B", "KiB", "MiB", "GiB", "TiB", "PiB"}
	i := 0
	for n >= 10*1024 && i < len(units)-1 {
		n, i = n/1024, i+1
	}
	return strconv.FormatUint(n, 10) + " " + units[i]
}
