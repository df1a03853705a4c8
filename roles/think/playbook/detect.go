package playbook

// testsBook is the playbook that knows how projects are tested.
const testsBook = "tests-green"

// TestCommand is the command that runs the tests of what a directory holds, or
// empty when nothing there says how it is tested. It is what the tests-green
// playbook would run.
func (b *Backend) TestCommand(dir string) (string, error) {
	book, err := b.opt.Library.For(testsBook, "")
	if err != nil {
		return "", err
	}
	facts := b.opt.Facts(dir)
	v := Values{}
	for _, d := range book.Detect {
		if ok, _ := d.When.Holds(facts, v); ok && d.Set["test"] != "" {
			return d.Set["test"], nil
		}
	}
	return "", nil
}
