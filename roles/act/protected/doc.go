// Package protected finds changes of the entries that decide what runs when a
// project is tested: the scripts that its test command runs, targets of a
// Makefile, the test script and the settings of runners in package.json,
// pyproject.toml, Cargo.toml, pom.xml and files of their own, and what a host
// runs. The rest of those files is no matter of this package.
//
// It promises that what it can not read counts as changed whole. It reads what it
// is given, runs nothing, and does not know whether a change is for the better.
package protected
