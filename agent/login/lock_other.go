//go:build !unix

package login

import (
	"errors"
	"os"
)

// tryLock says that there is no such lock here. Nothing is renewed without one.
func tryLock(*os.File) (bool, error) { return false, errors.ErrUnsupported }
