//go:build !linux

package main

// processesOf: there is no portable way to see what a process uses.
func processesOf(string) ([]proc, error) { return nil, errUnmeasured }
