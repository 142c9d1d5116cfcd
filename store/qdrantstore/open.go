package qdrantstore

import (
	"context"
	"fmt"
	"hash/fnv"
	"net"
	"sync"
	"time"

	"github.com/qdrant/go-client/qdrant"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/metadata"

	"evoke/scoring"
	"evoke/store"
)

// DB is a store on a Qdrant server.
type DB struct {
	set    *settings
	client *qdrant.Client
	bm25   scoring.BM25

	mu     sync.Mutex
	closed bool
	calls  sync.WaitGroup // methods under way
	space  space          // of the collection; what Open or SetModel saw

	claim   sync.Mutex   // one SetModel at a time
	replace sync.RWMutex // held for reading by writes, for writing while the collection is replaced
	stripes [64]sync.Mutex
}

var _ store.Store = (*DB)(nil)

// maxReply bounds one reply of the server.
const maxReply = 64 << 20

// Open connects to the server and makes the collection when there is none. It fails with ErrUnavailable when the server
// cannot be reached or refuses the key, with ErrConflict when the name is taken by something that is not a store of this
// package or is newer than this program, and with ErrInvalid for bad options.
func Open(ctx context.Context, o *Options) (*DB, error) {
	set, err := o.check()
	if err != nil {
		return nil, err
	}
	if set.APIKey != "" && !set.tls && !loopback(set.host) {
		set.Logger.WarnContext(ctx, "the Qdrant API key is sent in clear: use an https address")
	}
	client, err := qdrant.NewClient(set.config())
	if err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	db := &DB{set: set, client: client, bm25: set.Lexical.OwnBM25()}
	if err := db.prepareCollection(ctx); err != nil {
		client.Close()
		return nil, err
	}
	return db, nil
}

func (s *settings) config() *qdrant.Config {
	return &qdrant.Config{
		Host: s.dialHost(), Port: s.port, PoolSize: uint(s.Pool), UseTLS: s.tls, TLSConfig: s.TLS,
		SkipCompatibilityCheck: true, // its limit is a minute; the first call tells as much
		GrpcOptions: []grpc.DialOption{
			grpc.WithConnectParams(grpc.ConnectParams{MinConnectTimeout: 2 * time.Second,
				Backoff: backoff.Config{BaseDelay: 100 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: 2 * time.Second}}),
			grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxReply)),
			grpc.WithChainUnaryInterceptor(s.sendKey),
		},
	}
}

// sendKey adds the API key. The client would do so too, and write to the process's log about it.
func (s *settings) sendKey(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, next grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	if s.APIKey != "" {
		ctx = metadata.AppendToOutgoingContext(ctx, "api-key", s.APIKey)
	}
	return next(ctx, method, req, reply, cc, opts...)
}

// dialHost brackets an IPv6 address, which the client joins to the port as it stands.
func (s *settings) dialHost() string {
	if ip := net.ParseIP(s.host); ip != nil && ip.To4() == nil {
		return "[" + s.host + "]"
	}
	return s.host
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// Close waits for the calls under way and disconnects. Later calls fail with ErrClosed.
func (db *DB) Close() error {
	db.mu.Lock()
	done := db.closed
	db.closed = true
	db.mu.Unlock()
	if done {
		return nil
	}
	db.calls.Wait()
	if err := db.client.Close(); err != nil {
		return fmt.Errorf("disconnect: %w", err)
	}
	return nil
}

// enter begins a method; leave ends it.
func (db *DB) enter(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	if db.closed {
		return store.ErrClosed
	}
	db.calls.Add(1)
	return nil
}

func (db *DB) leave() { db.calls.Done() }

// enterScope is enter for a method of one scope.
func (db *DB) enterScope(ctx context.Context, sc store.Scope) error {
	if err := db.enter(ctx); err != nil {
		return err
	}
	if err := sc.Validate(); err != nil {
		db.leave()
		return err
	}
	return nil
}

// writing lets one write of a scope at a time through, and none while the collection is replaced.
func (db *DB) writing(sc store.Scope) (done func()) {
	h := fnv.New32a()
	h.Write([]byte(sc.Key()))
	m := &db.stripes[h.Sum32()%uint32(len(db.stripes))]
	db.replace.RLock()
	m.Lock()
	return func() {
		m.Unlock()
		db.replace.RUnlock()
	}
}
