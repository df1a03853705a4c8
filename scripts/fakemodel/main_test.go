package main

import (
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestServesUntilInterrupted(t *testing.T) {
	dir := t.TempDir()
	script, log := filepath.Join(dir, "s.yaml"), filepath.Join(dir, "log")
	if err := os.WriteFile(script, []byte("default: {text: hello}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	out, in := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- run(ctx, []string{"--script", script, "--log", log, "--print-addr"}, in) }()
	line := make([]byte, 64)
	n, err := out.Read(line)
	if err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = io.Copy(io.Discard, out) }()
	defer in.Close()
	c := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := c.Post("http://"+strings.TrimSpace(string(line[:n]))+"/v1/messages", "application/json", strings.NewReader(`{"model":"m","messages":[]}`))
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(res.Body)
	res.Body.Close()
	if err != nil || !strings.Contains(string(body), "hello") {
		t.Errorf("%v in %s", err, body)
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if b, err := os.ReadFile(log); err != nil || strings.Count(string(b), "\n") != 1 {
		t.Errorf("%v in log %q", err, b)
	}
}

func TestScriptIsNeeded(t *testing.T) {
	if err := run(t.Context(), nil, io.Discard); err == nil || !strings.Contains(err.Error(), "--script") {
		t.Errorf("error %v", err)
	}
}
