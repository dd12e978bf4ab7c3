//go:build !unix

package main

import (
	"context"
	"errors"
)

func again(context.Context, flags, string) (bool, error) {
	return false, errors.New("-uid needs a Unix system")
}
