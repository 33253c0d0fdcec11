//go:build !unix

package profile

import "os"

// hold does nothing where there are no such locks: the last save wins.
func hold(*os.File) (taken bool, err error) { return false, nil }
