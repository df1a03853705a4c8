// Package chore is the work of the shipped playbooks that a shell does badly:
// walking trees of any size and with any names, telling what links are broken,
// which files are equal, and whether tests were touched.
//
// It is run as the hidden command `orch chore NAME`, so that every chore is an
// ordinary tool call: bounded, journalled and judged like any other. A chore
// writes one part of a report as JSON and prints it for people; `verify` looks
// again at what a part claims, by other code where that is possible; `report`
// joins parts into one Markdown file.
//
// It promises to follow no symbolic link, to skip .git and .orch, to work
// without git, on an empty tree and on names with spaces or no valid UTF-8, and
// to mask secrets before it prints them. It changes nothing but the files named
// with --out, and never replaces a file that it did not write.
package chore
