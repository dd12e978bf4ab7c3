//go:build !unix

package llm

import "time"

// cpu is not known here.
func cpu() time.Duration { return 0 }
