// Command gen makes a Go table of a list of colours.
package main

import (
	"bytes"
	"fmt"
	"go/format"
	"log"
	"os"
	"strings"
)

func main() {
	list, err := os.ReadFile(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "// Code generated from %s by go generate; DO NOT EDIT.\n\npackage colours\n\nvar table = map[string]string{\n", os.Args[1])
	for _, line := range strings.Split(strings.TrimSpace(string(list)), "\n") {
		name, hex, _ := strings.Cut(line, " ")
		fmt.Fprintf(&b, "%q: %q,\n", name, hex)
	}
	b.WriteString("}\n")
	out, err := format.Source(b.Bytes())
	if err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(os.Args[2], out, 0o644); err != nil {
		log.Fatal(err)
	}
}
