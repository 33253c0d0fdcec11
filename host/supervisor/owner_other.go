//go:build !unix

package supervisor

import "os"

func ownedByUs(os.FileInfo) error { return nil }
