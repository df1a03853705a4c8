// Package journal keeps the log of a board.
package journal
