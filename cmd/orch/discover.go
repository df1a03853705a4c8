package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"orch/roles/think/choose"
)

// discoverEnv turns looking for models and agents off when it is "off".
const discoverEnv = "ORCH_DISCOVER"

// ollamaWait bounds how long a local Ollama may take to answer.
const ollamaWait = 300 * time.Millisecond

// look lists what this machine offers to think with.
func look(ctx context.Context) []choose.Finding {
	if os.Getenv(discoverEnv) == "off" {
		return nil
	}
	return choose.Look(ctx, choose.Machine{Ollama: ollamaModels, LookPath: exec.LookPath, Getenv: os.Getenv})
}

type ollamaModel struct {
	Name string `json:"name"`
	Size int64  `json:"size"`
}

// ollamaModels lists the chat models of a local Ollama, the largest first.
func ollamaModels(ctx context.Context) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, ollamaWait)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, choose.Ollama+"/api/tags", nil)
	if err != nil {
		return nil, fmt.Errorf("ask the local Ollama: %w", err)
	}
	// No proxy: what answers must be this machine.
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("ask the local Ollama: %w", err)
	}
	defer resp.Body.Close()
	var tags struct {
		Models []ollamaModel `json:"models"`
	}
	if err := json.NewDecoder(http.MaxBytesReader(nil, resp.Body, 1<<20)).Decode(&tags); err != nil {
		return nil, fmt.Errorf("read what the local Ollama has: %w", err)
	}
	slices.SortStableFunc(tags.Models, func(a, b ollamaModel) int { return cmp.Compare(b.Size, a.Size) })
	var names []string
	for _, m := range tags.Models {
		if !strings.Contains(m.Name, "embed") {
			names = append(names, m.Name)
		}
	}
	return names, nil
}
