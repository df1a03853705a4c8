//go:build !race

package blackboard

const raced = false
