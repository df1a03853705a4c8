//go:build !unix

package socket

import "io/fs"

// ownedByUs trusts the folder of temporary files, which is the user's own here.
func ownedByUs(fs.FileInfo) bool { return true }
