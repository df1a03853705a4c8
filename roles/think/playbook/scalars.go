package playbook

import (
	"fmt"
	"time"

	"gopkg.in/yaml.v3"
)

// Strings is a list of strings that may be written as a single one.
type Strings []string

// UnmarshalYAML accepts a string or a list of strings.
func (s *Strings) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode {
		*s = Strings{n.Value}
		return nil
	}
	if n.Kind != yaml.SequenceNode {
		return fmt.Errorf("line %d: want a string or a list of strings", n.Line)
	}
	list := make(Strings, 0, len(n.Content))
	for _, c := range n.Content {
		if c.Kind != yaml.ScalarNode {
			return fmt.Errorf("line %d: want a string", c.Line)
		}
		list = append(list, c.Value)
	}
	*s = list
	return nil
}

// Duration is a time limit written as 90s, 10m or 1h.
type Duration time.Duration

// UnmarshalYAML accepts what time.ParseDuration accepts, above zero.
func (d *Duration) UnmarshalYAML(n *yaml.Node) error {
	v, err := time.ParseDuration(n.Value)
	if err != nil || v <= 0 {
		return fmt.Errorf("line %d: %q is not a duration like 90s, 10m or 1h", n.Line, n.Value)
	}
	*d = Duration(v)
	return nil
}
