// Package rerank asks a hosted cross-encoder how relevant texts are to a query,
// over the HTTP form that Cohere, Jina, Voyage and self-hosted servers share:
// POST of {"model", "query", "documents", "top_n"}, answered by {"results":
// [{"index", "relevance_score"}]}.
//
// The texts leave the machine. It is used only where it is configured.
package rerank

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"

	"evoke/embed"
)

// Options of a Client.
type Options struct {
	// Key is sent as the bearer token; empty for a server that wants none.
	Key string
	// HTTP makes the requests; default a client of its own without a time limit:
	// the caller's context has it.
	HTTP *http.Client
}

// Client is a reranking service. It is safe for concurrent use.
type Client struct {
	url, model string
	opts       Options
}

// maxAnswer bounds the bytes of an answer that are read.
const maxAnswer = 4 << 20

// New returns a client of the endpoint at address ("https://…/v1/rerank").
func New(address, model string, opts *Options) (*Client, error) {
	var o Options
	if opts != nil {
		o = *opts
	}
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("new reranker: %w: the address is not an http or https URL", embed.ErrInvalid)
	}
	if model == "" {
		return nil, fmt.Errorf("new reranker: %w: no model is named", embed.ErrInvalid)
	}
	if o.HTTP == nil {
		o.HTTP = &http.Client{}
	}
	return &Client{url: address, model: model, opts: o}, nil
}

// Rerank returns how relevant each text is to the query, 0 to 1, in the order of
// the texts; a text that the service leaves out has 0. Errors wrap
// embed.ErrUnavailable, embed.ErrInvalid or embed.ErrDamaged, or are the
// context's, and never repeat a text or the key.
func (c *Client) Rerank(ctx context.Context, query string, texts []string) ([]float64, error) {
	if len(texts) == 0 {
		return nil, ctx.Err()
	}
	body, err := json.Marshal(struct {
		Model     string   `json:"model"`
		Query     string   `json:"query"`
		Documents []string `json:"documents"`
		TopN      int      `json:"top_n"`
	}{c.model, query, texts, len(texts)})
	if err != nil {
		return nil, fmt.Errorf("rerank: encode: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("rerank: %w: the address", embed.ErrInvalid)
	}
	req.Header.Set("Content-Type", "application/json")
	if c.opts.Key != "" {
		req.Header.Set("Authorization", "Bearer "+c.opts.Key)
	}
	res, err := c.opts.HTTP.Do(req)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, fmt.Errorf("rerank: %w: the service cannot be reached", embed.ErrUnavailable)
	}
	defer res.Body.Close()
	switch {
	case res.StatusCode == http.StatusTooManyRequests || res.StatusCode >= 500:
		return nil, fmt.Errorf("rerank: %w: the service answered with status %d", embed.ErrUnavailable, res.StatusCode)
	case res.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("rerank: %w: the service refused the request (status %d): check address, model and key", embed.ErrInvalid, res.StatusCode)
	}
	return parse(ctx, res.Body, len(texts))
}

func parse(ctx context.Context, body io.Reader, n int) ([]float64, error) {
	var answer struct {
		Results []struct {
			Index int     `json:"index"`
			Score float64 `json:"relevance_score"`
		} `json:"results"`
	}
	if err := json.NewDecoder(io.LimitReader(body, maxAnswer)).Decode(&answer); err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, fmt.Errorf("rerank: %w: %w", embed.ErrDamaged, errAnswer)
	}
	out := make([]float64, n)
	for _, r := range answer.Results {
		if r.Index < 0 || r.Index >= n || math.IsNaN(r.Score) {
			return nil, fmt.Errorf("rerank: %w: %w", embed.ErrDamaged, errAnswer)
		}
		out[r.Index] = min(max(r.Score, 0), 1)
	}
	return out, nil
}

var errAnswer = errors.New("the answer is not a list of relevance scores")
