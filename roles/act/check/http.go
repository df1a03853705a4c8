package check

import (
	"context"
	"errors"
	"io"
	"net/http"
	"syscall"
	"time"
)

const (
	httpWallMS = 30_000
	bodyBytes  = 4 << 20
)

func get(ctx context.Context, h *HTTP, env Env) Verdict {
	ctx, cancel := context.WithTimeout(ctx, time.Duration(min(env.WallMS, httpWallMS))*time.Millisecond)
	defer cancel()
	method := h.Method
	if method == "" {
		method = http.MethodGet
	}
	req, err := http.NewRequestWithContext(ctx, method, h.URL, nil)
	if err != nil {
		return cannot(KindNone, "%v", err)
	}
	for k, v := range h.Header {
		req.Header.Set(k, v)
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true, Proxy: http.ProxyFromEnvironment}}
	want := h.Status
	if want == 0 {
		want = http.StatusOK
	}
	if want >= 300 && want < 400 { // the redirection itself is asked for
		client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	}
	resp, err := client.Do(req)
	if err != nil {
		return Verdict{Class: Environmental, Kind: netKind(err), Evidence: err.Error()}
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, bodyBytes))
	if err != nil {
		return Verdict{Class: Environmental, Kind: KindTransient, Evidence: "status " + resp.Status + ", then " + err.Error()}
	}
	if resp.StatusCode != want {
		v := fails("status %d, want %d\n%s", resp.StatusCode, want, endOf(env.clean(string(body))))
		if resp.StatusCode == http.StatusTooManyRequests || resp.StatusCode >= 500 {
			v.Class, v.Kind = Environmental, KindTransient
		}
		return v
	}
	if why := h.Body.unmet(string(body)); why != "" {
		return fails("status %d, but the body %s\n%s", resp.StatusCode, why, endOf(env.clean(string(body))))
	}
	return passes("status %d, %d bytes", resp.StatusCode, len(body))
}

// netKind: a refused connection or a timeout may pass; what else the network
// says is about a service that is not there.
func netKind(err error) Kind {
	var timeout interface{ Timeout() bool }
	if errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.ECONNRESET) || errors.As(err, &timeout) && timeout.Timeout() {
		return KindTransient
	}
	return KindTool
}
