//go:build !linux

package cli

// keepOthersOut does nothing where processes of a user do not see each other's
// memory and environment in files.
func keepOthersOut() {}
