package chore

import (
	"fmt"
	"net/http"
	"sort"
	"strings"
	"sync"
	"time"
)

const (
	webLimit   = 15 * time.Second // one request
	webAtOnce  = 4
	maxWebURLs = 500
)

// askWeb asks for every web link once and returns the links that lead nowhere.
// A server that refuses robots or is overloaded proves nothing and is no finding.
func (c *linkChecker) askWeb() []Item {
	urls := make([]string, 0, len(c.web))
	for u := range c.web {
		urls = append(urls, u)
	}
	sort.Strings(urls)
	urls = urls[:min(len(urls), maxWebURLs)]
	problems := make([]string, len(urls))
	client := &http.Client{Timeout: webLimit}
	defer client.CloseIdleConnections()
	var wg sync.WaitGroup
	next := make(chan int)
	for range webAtOnce {
		wg.Go(func() {
			for i := range next {
				problems[i] = askOne(client, urls[i])
			}
		})
	}
	for i := range urls {
		next <- i
	}
	close(next)
	wg.Wait()
	var items []Item
	for i, u := range urls {
		if problems[i] == "" {
			continue
		}
		for _, it := range c.web[u] {
			it.What = "web"
			it.Text += " (" + problems[i] + ")"
			items = append(items, it)
		}
	}
	return items
}

func askOne(client *http.Client, address string) string {
	if strings.HasPrefix(address, "//") {
		address = "https:" + address
	}
	for _, method := range []string{http.MethodHead, http.MethodGet} {
		req, err := http.NewRequest(method, address, nil)
		if err != nil {
			return oneLine(err.Error())
		}
		req.Header.Set("User-Agent", "orch-link-check")
		res, err := client.Do(req)
		if err != nil {
			if method == http.MethodHead {
				continue
			}
			return oneLine(err.Error())
		}
		res.Body.Close()
		switch {
		case res.StatusCode < 400:
			return ""
		case res.StatusCode == http.StatusNotFound || res.StatusCode == http.StatusGone:
			if method == http.MethodGet {
				return fmt.Sprintf("status %d", res.StatusCode)
			}
		case method == http.MethodGet:
			return ""
		}
	}
	return ""
}
