package evoke

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"evoke/recall"
	"evoke/store"
	"evoke/store/lifecycle"
)

// probed counts what was looked for in one place, over all steps of an erasure.
type probed struct {
	Place  string `json:"place"`
	Looked int64  `json:"looked"`
	Found  int    `json:"found,omitempty"`
}

func (x *eraser) probe(place string, looked, found int) {
	for i := range x.at.Probed {
		if p := &x.at.Probed[i]; p.Place == place {
			p.Looked, p.Found = p.Looked+int64(looked), p.Found+found
			return
		}
	}
	x.at.Probed = append(x.at.Probed, probed{place, int64(looked), found})
}

// probeIDs asks for what was removed by its ids.
func (x *eraser) probeIDs(ctx context.Context, sc store.Scope, ids, threads []string) error {
	found := 0
	for part := range slices.Chunk(ids, maxIDs) {
		items, err := x.store.Get(ctx, sc, part)
		if err != nil {
			return fmt.Errorf("probe: get: %w", err)
		}
		found += len(items)
	}
	x.probe("get", len(ids), found)
	found = 0
	for part := range slices.Chunk(ids, maxIDs) {
		page, err := x.store.List(ctx, sc, store.ListQuery{Filter: store.Filter{IDs: part}, View: store.View{All: true}, Order: store.ByID, Limit: len(part)})
		if err != nil {
			return fmt.Errorf("probe: list: %w", err)
		}
		found += len(page.Items)
	}
	x.probe("list", len(ids), found)
	gone := make(map[string]bool, len(ids))
	for _, id := range ids {
		gone[id] = true
	}
	sections, err := x.profileItems(ctx, sc, store.View{All: true})
	if err != nil {
		return fmt.Errorf("probe: profile: %w", err)
	}
	found = 0
	for i := range sections {
		for _, id := range sections[i].Provenance.Turns {
			if gone[id] {
				found++
			}
		}
	}
	x.probe("profile", len(sections), found)
	t := store.Traced{Scope: sc, IDs: map[string]string{}}
	for _, id := range ids {
		t.IDs[id] = ""
	}
	return x.probeTraces(ctx, t)
}

// probeTraces looks into control data.
func (x *eraser) probeTraces(ctx context.Context, t store.Traced) error {
	left, err := x.ledger.Traces(ctx, t)
	if err != nil {
		return fmt.Errorf("probe: control data: %w", err)
	}
	for _, place := range [...]string{"replies", "events", "threads", "quarantine", "blocks", "audit", "operations"} {
		x.probe(place, max(1, len(t.IDs)), left.Counts[place])
	}
	return nil
}

// Limits of what is asked for by its own words: of a step, and of a run.
const (
	askedOfAStep = 2
	askedOfARun  = 24
	askedBytes   = 1000
)

// probeTexts asks for what was removed in its own words: it must neither be recalled nor stand in a block.
func (x *eraser) probeTexts(ctx context.Context, sc store.Scope, plan *removal) error {
	gone := map[string]bool{}
	for _, id := range plan.ids() {
		gone[id] = true
	}
	for i := 0; i < min(askedOfAStep, len(plan.gone)) && x.asked < askedOfARun; i++ {
		x.asked++
		query := strings.ToValidUTF8(plan.gone[i].Content[:min(askedBytes, len(plan.gone[i].Content))], "")
		req := recall.Request{Query: query, Limit: 100, MinScore: new(float64), Filter: store.Filter{}}
		res, err := x.recall.Recall(ctx, []store.Scope{sc}, req)
		if err != nil {
			return fmt.Errorf("probe: recall: %w", err)
		}
		found := 0
		for _, h := range res.Hits {
			if gone[h.Item.ID] {
				found++
			}
		}
		x.probe("recall, lexical", 1, found)
		if _, off := res.Degraded["dense"]; !off && res.Embedder != "none" {
			x.probe("recall, dense", 1, found)
		}
		block, err := x.recall.Context(ctx, []store.Scope{sc}, recall.BlockRequest{Request: req, MaxTokens: 2000})
		if err != nil {
			return fmt.Errorf("probe: context: %w", err)
		}
		found = 0
		for _, e := range block.Entries {
			if gone[e.ID] {
				found++
			}
		}
		x.probe("context", 1, found)
	}
	return nil
}

// rewriteBytes is up to which size the files are written anew after every erasure; larger ones when something is found.
const rewriteBytes = 1 << 30

// receipt looks for what was removed in the export and in the files, and says how it stands.
func (x *eraser) receipt(ctx context.Context) (lifecycle.SignedReceipt, error) {
	if c, ok := x.embedder.(clearer); ok {
		c.Clear()
	}
	op := x.p.Operation()
	r := lifecycle.Receipt{
		Operation: op.ID, Tenant: op.Tenant, Asked: *x.at.Asked, By: op.By, AskedAt: op.CreatedAt, Resumed: x.at.Runs - 1, Removed: x.at.counts(),
		Tombstones: x.at.Tombstones,
	}
	delete(r.Removed, "tombstones")
	for place, n := range x.at.Removed {
		r.Removed[place] = n
	}
	export, err := x.probeExport(ctx)
	if err != nil {
		return lifecycle.SignedReceipt{}, err
	}
	files, err := x.probeFiles(ctx)
	if err != nil {
		return lifecycle.SignedReceipt{}, err
	}
	for _, p := range x.at.Probed {
		r.Probes = append(r.Probes, lifecycle.Probe{Place: p.Place, Looked: p.Looked, Found: p.Found})
	}
	r.Probes = append(append(r.Probes, export), files...)
	if r.Residual, err = x.residual(ctx); err != nil {
		return lifecycle.SignedReceipt{}, err
	}
	r.DoneAt = x.now()
	return x.marks.Sign(&r)
}

// clearer is an embedder that remembers vectors of texts, in memory.
type clearer interface{ Clear() }

// Clear has the embedder forget vectors.
func (v viewed) Clear() {
	if c, ok := v.Embedder.(clearer); ok {
		c.Clear()
	}
}

// asks is what is kept of the request.
func (x *eraser) asks() lifecycle.Asked {
	a := lifecycle.Asked{User: x.r.User, Agent: x.r.Agent, Tenant: x.r.Tenant, Narrow: x.r.Filter != nil}
	if x.r.Thread != "" {
		a.Thread = x.marks.Pseudonym(store.Scope{Tenant: x.tenant, User: x.r.User, Agent: x.r.Agent}, x.r.Thread)
	}
	return a
}

// probeExport reads all memories that were covered as an export does.
func (x *eraser) probeExport(ctx context.Context) (lifecycle.Probe, error) {
	p := lifecycle.Probe{Place: "export"}
	scopes, err := x.covered(ctx)
	if err != nil {
		return p, err
	}
	q := x.query()
	selects := x.at.Asked.Thread == "" && !x.at.Asked.Narrow || x.r.Thread != "" || x.r.Filter != nil
	if !selects {
		p.Note = "not compared with what was asked for: the erasure was cut off when that was gone"
	}
	for _, sc := range scopes {
		all := store.ListQuery{View: store.View{All: true}, Order: store.ByID, Limit: pageItems}
		for {
			page, err := x.store.List(ctx, sc, all)
			if err != nil {
				return p, fmt.Errorf("probe: export: %w", err)
			}
			p.Looked += int64(len(page.Items))
			left, err := x.goes(ctx, sc, slices.DeleteFunc(page.Items, func(it store.Item) bool {
				return !selects || !q.Filter.Match(&it) || it.RecordedAt.After(x.p.Operation().CreatedAt)
			}))
			if err != nil {
				return p, err
			}
			p.Found += len(left)
			if all.Cursor = page.Next; all.Cursor == "" {
				break
			}
		}
	}
	return p, nil
}

// probeFiles has the files scrubbed and searches them for passages of what was removed.
func (x *eraser) probeFiles(ctx context.Context) ([]lifecycle.Probe, error) {
	var probes []lifecycle.Probe
	for name, part := range map[string]any{"files": x.ledger, "files of the item store": x.store} {
		disk, ok := part.(store.Disk)
		if !ok || name != "files" && any(x.store) == any(x.ledger) {
			continue
		}
		p, err := x.probeDisk(ctx, disk)
		if err != nil {
			return nil, err
		}
		p.Place = name
		probes = append(probes, p)
	}
	return probes, nil
}

func (x *eraser) probeDisk(ctx context.Context, disk store.Disk) (p lifecycle.Probe, err error) {
	size, err := sizeOf(ctx, disk)
	if err != nil {
		return p, err
	}
	rewrite := size <= rewriteBytes
	for try := 0; ; try++ {
		switch err := scrub(ctx, disk, rewrite); {
		case err == nil:
			x.scrubbed = x.scrubbed || rewrite
		case ctx.Err() != nil:
			return p, ctx.Err()
		case errors.Is(err, store.ErrUnavailable):
			p.Note = "a reader kept the log from being emptied"
		case rewrite: // what is removed is removed: the receipt tells what could not be done
			x.log.WarnContext(ctx, "the files could not be written anew after an erasure", "error", err)
			p.Note = "the files could not be written anew; is there as much free space as they have twice?"
			if err := scrub(ctx, disk, false); err != nil {
				return p, fmt.Errorf("scrub: %w", err)
			}
		default:
			return p, fmt.Errorf("scrub: %w", err)
		}
		looked, found, err := x.searchRaw(ctx, disk)
		if err != nil {
			return p, err
		}
		if p.Looked = looked; len(found) == 0 {
			return p, nil
		}
		kept := lifecycle.Found{}
		err = disk.Texts(ctx, func(_ string, value []byte) error { x.samples.SearchText(value, kept); return nil })
		if err != nil {
			return p, fmt.Errorf("probe: what is kept: %w", err)
		}
		p.Found = found.Without(kept)
		if p.Shared = len(found) - p.Found; p.Found == 0 || rewrite && try > 0 {
			return p, nil
		}
		rewrite = true
	}
}

func sizeOf(ctx context.Context, disk store.Disk) (total int64, err error) {
	err = disk.Raw(ctx, func(_ string, r io.Reader) error {
		f, ok := r.(interface{ Stat() (os.FileInfo, error) })
		if !ok {
			return nil
		}
		info, err := f.Stat()
		if err == nil {
			total += info.Size()
		}
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("probe: files: %w", err)
	}
	return total, nil
}

func (x *eraser) searchRaw(ctx context.Context, disk store.Disk) (total int64, found lifecycle.Found, err error) {
	found = lifecycle.Found{}
	err = disk.Raw(ctx, func(_ string, r io.Reader) error {
		n, err := x.samples.Search(r, found)
		total += n
		return err
	})
	if err != nil {
		return total, found, fmt.Errorf("probe: files: %w", err)
	}
	return total, found, nil
}

// scrub waits a little for readers that are in the way.
func scrub(ctx context.Context, disk store.Disk, rewrite bool) (err error) {
	for range 3 {
		if err = disk.Scrub(ctx, rewrite); !errors.Is(err, store.ErrUnavailable) {
			return err
		}
		rewrite = false
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(200 * time.Millisecond):
		}
	}
	return err
}

// residual names what is out of reach.
func (x *eraser) residual(ctx context.Context) ([]lifecycle.Residual, error) {
	copies, err := x.copies(ctx)
	if err != nil {
		return nil, err
	}
	rs := []lifecycle.Residual{
		{Place: "names", What: "the names of the user and the agent, in the record of this erasure, the audit log and the list of memories", Until: "the audit log is pruned"},
		copies,
	}
	if _, ok := x.ledger.(store.Disk); ok && !x.scrubbed {
		rs = append(rs, lifecycle.Residual{
			Place: "unused space of the files", What: "copies that SQLite left when it divided pages, of which none was found",
			Until: "the files are written anew: by the next erasure, or by a backup that is restored",
		})
	}
	if _, ok := x.store.(store.Disk); !ok {
		rs = append(rs, lifecycle.Residual{
			Place: "item store", What: "the server's own log and the segments that it has not optimised since: neither is read by a search or a scroll",
			Until: "the server's optimizer rewrites the segments (Qdrant: once 20 % of one are deleted, or at the next optimisation; its log is cut at the next flush, within seconds)",
		})
	}
	return rs, nil
}

// Receipt returns the signed receipt of an erasure that is done, or ErrNotFound.
func (m *Memory) Receipt(ctx context.Context, operation string) (lifecycle.SignedReceipt, error) {
	op, err := m.Operation(ctx, operation)
	if err != nil {
		return lifecycle.SignedReceipt{}, err
	}
	var res erasedResult
	if op.Kind != "erase" || op.State != store.OperationDone {
		return lifecycle.SignedReceipt{}, fmt.Errorf("receipt: %w: an erasure has one once it is done", store.ErrNotFound)
	}
	if err := json.Unmarshal(op.Result, &res); err != nil || res.Receipt.Signature == "" {
		return lifecycle.SignedReceipt{}, fmt.Errorf("receipt: %w: an older version made the erasure", store.ErrNotFound)
	}
	return res.Receipt, nil
}

// ReceiptKey is the public key that this installation's receipts are verified with.
func (m *Memory) ReceiptKey(ctx context.Context) (string, error) {
	marks, err := m.marks(ctx, true)
	if err != nil {
		return "", err
	}
	return marks.PublicKey(), nil
}

// VerifyReceipt checks that a receipt is one of this installation's and unchanged; ErrInvalid when it is not.
func (m *Memory) VerifyReceipt(ctx context.Context, s lifecycle.SignedReceipt) (lifecycle.Receipt, error) {
	key, err := m.ReceiptKey(ctx)
	if err != nil {
		return lifecycle.Receipt{}, err
	}
	return s.Verify(key)
}
