//go:build !linux && !windows && !darwin

package journal

// NetworkKind cannot tell here; every path counts as local.
func (OSFS) NetworkKind(string) (string, error) { return "", nil }
