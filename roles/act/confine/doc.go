// Package confine keeps a process and everything it starts to a few places of
// the file system.
//
// It owns the policy (what may be written, what stays read-only inside of that,
// what is not to be seen), the two ways in which Linux enforces one, and the
// trial whether this machine lets them be used.
//
// It promises that a process which was started through Prepare and Enter can
// not widen what it may do, and neither can anything it starts; that Enter
// either puts every layer of the sandbox in force or fails before the command
// runs; and that nothing of it is left when the processes are gone.
//
// It never decides what a command may write, never falls back to less by
// itself, and does not limit the network, memory or time.
//
// # The layers
//
// Namespace: a user and a mount namespace of its own. Every mount is read-only
// but those of Policy.Write; Policy.ReadOnly is mounted read-only inside of
// them, with the directories on the way pinned, so that none can be moved away;
// Policy.Over is mounted, with an overlay where something lies below it;
// Policy.Hide is covered, and so is all that lies beside Policy.Alone; /dev is a new one with the harmless devices, its own
// terminals and its own shared memory. The capabilities that could undo this
// are gone before the command starts, and a namespace it makes itself has all
// mounts locked by the kernel.
//
// Landlock: an allow-list of what may be written, which binds every descendant.
// From ABI 6 on signals and abstract sockets stay inside as well, and at any ABI
// processes outside can not be traced. It can not take something out of what it
// allows, so Policy.ReadOnly holds by namespace only; Policy.Hide holds without
// a namespace for contents, not for names and not for sockets.
//
// With both, both are used: what one of them misses the other has to miss too.
package confine
