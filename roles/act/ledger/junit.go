package ledger

import (
	"encoding/xml"
	"fmt"
)

type junitSuite struct {
	Name   string       `xml:"name,attr"`
	Suites []junitSuite `xml:"testsuite"`
	Cases  []junitCase  `xml:"testcase"`
}

type junitCase struct {
	Class   string    `xml:"classname,attr"`
	Name    string    `xml:"name,attr"`
	Failure *struct{} `xml:"failure"`
	Error   *struct{} `xml:"error"`
	Skipped *struct{} `xml:"skipped"`
}

// JUnit reads the XML that many runners write.
func JUnit(runner string, raw []byte) (Ledger, error) {
	var root junitSuite
	if err := xml.Unmarshal(raw, &root); err != nil {
		return Ledger{}, fmt.Errorf("read JUnit XML: %w", err)
	}
	var l Ledger
	l.Saw(runner)
	l.junit(root)
	return l, nil
}

func (l *Ledger) junit(s junitSuite) {
	for _, inner := range s.Suites {
		l.junit(inner)
	}
	for _, c := range s.Cases {
		suite, res := c.Class, Passed
		if suite == "" {
			suite = s.Name
		}
		switch {
		case c.Failure != nil || c.Error != nil:
			res = Failed
		case c.Skipped != nil:
			res = Skipped
		}
		l.Add(Name{suite, c.Name}, res)
	}
}
