// Package workspace gives coders places to work in, and brings what they made
// into a branch, so that a crash at any moment neither loses a commit nor moves
// a branch twice.
//
// It owns the workspaces, the way work comes out of them, the merge, and the
// order of it: said durably before the ref moves, moved by compare-and-swap,
// said again after.
//
// It promises that a workspace can not reach the repository's refs, hooks or
// settings; that what is in one is taken without running or believing anything
// it holds; that a commit which was harvested is pinned until somebody unpins
// it; and that a merge that was cut off is finished, or found finished, by
// whoever looks next.
//
// It never decides what is merged, never writes to a person's working tree, and
// takes no part of a repository's own hooks.
//
// A workspace is a repository of its own that borrows the objects of the
// person's (git's alternates) and has no remote. A linked worktree would need
// the main .git to be writable, and with it the refs, hooks and settings.
package workspace
