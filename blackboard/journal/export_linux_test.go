package journal

// NetworkKindOf names the network file system with that magic number.
func NetworkKindOf(magic uint32) string { return networkKindOf(magic) }
