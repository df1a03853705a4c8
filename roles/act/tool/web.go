package tool

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"time"

	"orch/roles/act/tool/gate"
)

const (
	maxRedirects  = 5
	maxFetchBytes = 4 << 20
)

// newClient refuses the addresses at which clouds hand out credentials.
func newClient() *http.Client {
	dialer := &net.Dialer{Timeout: 10 * time.Second, Control: func(_, address string, _ syscall.RawConn) error {
		host, _, err := net.SplitHostPort(address)
		if err != nil {
			return err
		}
		if ip := net.ParseIP(host); ip != nil && (ip.IsLinkLocalUnicast() || ip.IsMulticast() || ip.IsUnspecified()) {
			return fmt.Errorf("%s is not an address that may be fetched", host)
		}
		return nil
	}}
	return &http.Client{
		Timeout: fetchLimit,
		Transport: &http.Transport{
			Proxy: http.ProxyFromEnvironment, DialContext: dialer.DialContext, TLSHandshakeTimeout: 10 * time.Second,
			ResponseHeaderTimeout: 30 * time.Second, DisableKeepAlives: true,
		},
		CheckRedirect: func(r *http.Request, via []*http.Request) error {
			if len(via) >= maxRedirects {
				return fmt.Errorf("more than %d redirections", maxRedirects)
			}
			return checkURL(r.URL.String())
		},
	}
}

func checkURL(raw string) error {
	u, err := url.Parse(raw)
	switch {
	case err != nil:
		return err
	case u.Scheme != "http" && u.Scheme != "https":
		return fmt.Errorf("scheme %q, want http or https", u.Scheme)
	case u.Host == "":
		return errors.New("no host in the URL")
	case u.User != nil:
		return errors.New("a URL must not carry a password")
	}
	return nil
}

func (i *FetchInput) check() error {
	if err := need("url", i.URL); err != nil {
		return err
	}
	return checkURL(i.URL)
}
func (i *FetchInput) reads() bool                            { return true }
func (i *FetchInput) gate(*Box) []gate.Decision              { return nil }
func (i *FetchInput) target(*Box) string                     { return normalURL(i.URL) }
func (i *FetchInput) run(ctx context.Context, b *Box) Result { return b.get(ctx, i.URL) }

// get fetches a page. What the server says is the call's result; not reaching
// it is the machinery's.
func (b *Box) get(ctx context.Context, address string) Result {
	ctx, cancel := context.WithTimeout(ctx, fetchLimit)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return failed(err)
	}
	req.Header.Set("User-Agent", "orch")
	resp, err := b.opt.HTTP.Do(req)
	if err != nil {
		r := failed(fmt.Errorf("fetch %s: %w", normalURL(address), err))
		r.Infra = err.Error()
		return r
	}
	defer resp.Body.Close()
	limit := int64(min(maxFetchBytes, b.opt.KeepBytes))
	body, err := io.ReadAll(io.LimitReader(resp.Body, limit+1))
	if err != nil {
		r := failed(fmt.Errorf("fetch %s: %w", normalURL(address), err))
		r.Infra = err.Error()
		return r
	}
	r := Result{Truncated: int64(len(body)) > limit}
	body = body[:min(int64(len(body)), limit)]
	if resp.StatusCode >= 400 {
		r.Exit = 1
	}
	r.Output = append(fmt.Appendf(nil, "%s %s\n\n", resp.Status, resp.Header.Get("Content-Type")), body...)
	return r
}

func (i *SearchInput) check() error              { return need("query", strings.TrimSpace(i.Query)) }
func (i *SearchInput) reads() bool               { return true }
func (i *SearchInput) gate(*Box) []gate.Decision { return nil }
func (i *SearchInput) target(*Box) string {
	return strings.Join(strings.Fields(strings.ToLower(i.Query)), " ")
}

func (i *SearchInput) run(ctx context.Context, b *Box) Result {
	s := b.opt.Search
	switch {
	case len(s.Command) > 0:
		spec := b.opt.Process
		spec.Argv = make([]string, len(s.Command))
		for n, x := range s.Command {
			spec.Argv[n] = strings.ReplaceAll(x, "{query}", i.Query)
		}
		spec.Dir, spec.Session = b.opt.Workspace, true
		if spec.WallMS <= 0 {
			spec.WallMS = fetchLimit.Milliseconds()
		}
		return b.command(ctx, spec)
	case s.Endpoint != "":
		return b.get(ctx, strings.ReplaceAll(s.Endpoint, "{query}", url.QueryEscape(i.Query)))
	}
	r := failed(errors.New("no web search is configured"))
	r.Infra = "no web search is configured"
	return r
}
