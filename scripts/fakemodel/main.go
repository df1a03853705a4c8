// Command fakemodel serves a scripted model for tests of whole programs. It
// prints nothing but its address, and ends on an interrupt.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"orch/roles/think/fakemodel"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) (err error) {
	flags := flag.NewFlagSet("fakemodel", flag.ContinueOnError)
	script := flags.String("script", "", "the `file` that says how to answer, YAML or JSON")
	addr := flags.String("addr", "127.0.0.1:0", "the `address` to listen on")
	log := flags.String("log", "", "write each request to this `file` as a line of JSON")
	printAddr := flags.Bool("print-addr", false, "print the address listened on, and nothing else")
	addrFile := flags.String("addr-file", "", "write the address to this `file` when ready")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *script == "" {
		return errors.New("--script is needed")
	}
	s, err := fakemodel.Load(*script)
	if err != nil {
		return err
	}
	var requests io.Writer
	if *log != "" {
		f, err := os.OpenFile(*log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
		if err != nil {
			return fmt.Errorf("opening the request log: %w", err)
		}
		defer func() { err = errors.Join(err, f.Close()) }()
		requests = f
	}
	srv, err := fakemodel.Listen(s, *addr, requests)
	if err != nil {
		return err
	}
	defer srv.Close()
	if *printAddr {
		fmt.Fprintln(out, srv.Addr())
	}
	if *addrFile != "" {
		if err := announce(*addrFile, srv.Addr()); err != nil {
			return err
		}
	}
	<-ctx.Done()
	return nil
}

// announce puts the address in place whole, since a script waits for the file
// to appear and then reads it.
func announce(path, addr string) error {
	tmp := path + ".tmp"
	if err := os.WriteFile(tmp, []byte(addr), 0o644); err != nil {
		return fmt.Errorf("writing the address: %w", err)
	}
	if err := os.Rename(tmp, path); err != nil {
		return fmt.Errorf("writing the address: %w", err)
	}
	return nil
}
