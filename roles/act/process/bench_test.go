//go:build unix

package process

import (
	"context"
	"os/exec"
	"testing"
)

// The floor is exec.Cmd.Run of the same program.
func BenchmarkRun(b *testing.B) {
	b.Run("floor", func(b *testing.B) {
		for b.Loop() {
			if err := exec.Command("true").Run(); err != nil {
				b.Fatal(err)
			}
		}
	})
	for _, way := range []string{"group", "session", "cgroup", "guard"} {
		b.Run(way, func(b *testing.B) {
			for b.Loop() {
				s := spec("true")
				ways[way](&s)
				if r := Run(context.Background(), s); !r.OK() {
					b.Fatalf("%+v", r)
				}
			}
		})
	}
}
