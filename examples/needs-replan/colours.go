// Package colours knows colours by name. The table is generated from colours.txt.
package colours

//go:generate go run ./internal/gen colours.txt table.go

// Hex returns the hexadecimal form of a colour, or "" if nobody knows it.
func Hex(name string) string { return table[name] }
