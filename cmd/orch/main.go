// Command orch lets autonomous work run unattended in a project directory,
// converge or stop honestly, and leave a record of every message.
//
// This package wires: flags, output and exit codes. What the program does
// lives in blackboard and roles.
package main

import "os"

func main() { os.Exit(Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }
