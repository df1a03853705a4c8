package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"orch/blackboard/message"
)

// measureClaim takes one task after the other by hand, each in a process of its
// own, on a small and on a large board.
func measureClaim(ctx context.Context, b *bench) ([]result, error) {
	few, many := 1000, b.pick(100_000, 10_000)
	small, err := b.boardOfTasks(ctx, few)
	if err != nil {
		return nil, err
	}
	large, err := b.boardOfTasks(ctx, many)
	if err != nil {
		return nil, err
	}
	var onSmall, onLarge, floor usage
	claim := func(u *usage, root string) func(bool) error {
		return b.turn(ctx, u, root, "claim", "--as", "human-1")
	}
	err = turns(ctx, b.pick(31, 7), claim(&onSmall, small), claim(&onLarge, large), b.turn(ctx, &floor, small, "version"))
	if err != nil {
		return nil, err
	}
	grows := median(ratios(onLarge.wall, onSmall.wall))
	row := func(tasks int, bar string, u usage, ok bool) result {
		return result{what: fmt.Sprintf("orch claim, %d tasks", tasks), bar: bar, measured: u.String(),
			floor: floor.String() + " exec, " + times(median(ratios(u.wall, floor.wall))), verdict: meets(ok)}
	}
	first := row(few, "≤ 10 ms", onSmall, median(onSmall.wall) <= 10*time.Millisecond)
	second := row(many, "≤ 1.5 × that of 1000 tasks", onLarge, grows <= 1.5)
	second.floor = times(grows) + " that of 1000"
	second.notes = []string{fmt.Sprintf("CPU time at %d tasks is %s that at 1000", many, times(median(ratios(onLarge.cpu, onSmall.cpu))))}
	return []result{first, second}, nil
}

// turn runs the program under test once a round.
func (b *bench) turn(ctx context.Context, u *usage, dir string, args ...string) func(bool) error {
	return b.turnOf(ctx, u, dir, b.orch, args...)
}

// turnOf runs a program once a round.
func (b *bench) turnOf(ctx context.Context, u *usage, dir, program string, args ...string) func(bool) error {
	return func(counts bool) error {
		var once usage
		if err := b.timeOf(ctx, &once, dir, program, args...); err != nil || !counts {
			return err
		}
		u.add(once.wall[0], once.cpu[0])
		return nil
	}
}

// String shows the median wall time, and beside it that of the CPU time.
func (u usage) String() string {
	return fmt.Sprintf("%s (%s CPU)", ms(median(u.wall)), ms(median(u.cpu)))
}

// boardOfTasks makes a board with tasks as people make many: from a file.
func (b *bench) boardOfTasks(ctx context.Context, count int) (string, error) {
	root, err := b.board(ctx)
	if err != nil {
		return "", err
	}
	file := filepath.Join(b.temp, "tasks.jsonl")
	if err := writeTasks(file, count); err != nil {
		return "", err
	}
	began := time.Now()
	if err := b.do(ctx, root, "task", "add", "--from", file); err != nil {
		return "", err
	}
	b.say("  %d tasks added in %s", count, time.Since(began).Round(time.Millisecond))
	return root, nil
}

func taskID(n int) message.TaskID { return message.TaskID(fmt.Sprintf("t-%06d", n)) }

// writeTasks writes tasks that may be worked on at the same time.
func writeTasks(path string, count int) error {
	file, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("write the tasks: %w", err)
	}
	defer file.Close()
	out := bufio.NewWriter(file)
	enc := json.NewEncoder(out)
	for n := range count {
		err := enc.Encode(message.SubTask{
			ID: taskID(n), Intent: "raise the timeout of service " + strconv.Itoa(n) + " to 30 s", Priority: 100,
			Targets:         []string{fmt.Sprintf("services/s%06d/", n)},
			SuccessCriteria: []message.Criterion{{ID: "c1", Criterion: "the timeout is 30 s", Mode: message.Verifiable, Required: true}},
		})
		if err != nil {
			return fmt.Errorf("write the tasks: %w", err)
		}
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("write the tasks: %w", err)
	}
	return nil
}

// measureStep compares a process that loads the board and appends one message
// with one of the same program that does neither.
func measureStep(ctx context.Context, b *bench) ([]result, error) {
	root, err := b.board(ctx)
	if err != nil {
		return nil, err
	}
	var step, floor usage
	err = turns(ctx, b.pick(61, 11),
		b.turn(ctx, &step, root, "note", "human", "a person's words"),
		b.turn(ctx, &floor, root, "version"))
	if err != nil {
		return nil, err
	}
	ratio := median(ratios(step.wall, floor.wall))
	return []result{{
		what: "a step that does nothing", bar: "≤ 3 × bare fork + exec", measured: step.String(),
		floor: floor.String() + ", " + times(ratio), verdict: meets(ratio <= 3),
		notes: []string{"the step is `orch note human`: spawn, load, append and fsync, refresh state.yaml, exit; the floor is `orch version`"},
	}}, nil
}
