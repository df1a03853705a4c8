package playbook

import (
	"encoding/json"
	"fmt"

	"orch/roles/act/check"
)

// checkShape validates a check as it stands in the file, before values are put in.
func checkShape(c map[string]any) error {
	data, err := json.Marshal(c)
	if err != nil {
		return fmt.Errorf("a check with keys that are not strings")
	}
	if _, err := check.Decode(data); err != nil {
		return err
	}
	return nil
}
