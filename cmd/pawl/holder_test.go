package main

import (
	"context"
	"database/sql/driver"
	"fmt"
	"runtime"
	"strings"
	"time"

	engine "modernc.org/sqlite"

	"pawl/store/lockfile"
)

// asHolder makes the test binary hold a lock until it is killed: "flock FILE", or "writer STORE" for the lock of a
// store's writer.
const asHolder = "PAWL_TEST_HOLDS"

func holding(what string) error {
	kind, path, _ := strings.Cut(what, " ")
	if kind == "flock" {
		l, err := lockfile.Try(path)
		if err != nil || l == nil {
			return fmt.Errorf("%v, %w", l, err)
		}
		defer runtime.KeepAlive(l)
	} else {
		c, err := new(engine.Driver).Open(path)
		if err != nil {
			return err
		}
		defer runtime.KeepAlive(c)
		if _, err := c.(driver.ExecerContext).ExecContext(context.Background(), "BEGIN IMMEDIATE", nil); err != nil {
			return err
		}
	}
	fmt.Println("held")
	for {
		time.Sleep(time.Hour)
	}
}
