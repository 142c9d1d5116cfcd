// Package standin is a small Qdrant server for tests, in this process and in memory. It copies the measured behaviour of
// Qdrant 1.17.1 as far as qdrantstore uses it, its traps included: batches that are applied in part before they are refused,
// NaN that is accepted, dense searches that silently find too little without a graph, an IDF over all tenants, replies
// without counts, ties in no fixed order, dates in another form that no condition finds. The suites that run on it also run
// on a real server where there is one, which keeps it honest.
package standin

import (
	"context"
	"crypto/tls"
	"fmt"
	"math/rand/v2"
	"net"
	"sync"

	"github.com/qdrant/go-client/qdrant"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

// Server is a stand-in that serves on a loopback port.
type Server struct {
	qdrant.UnimplementedCollectionsServer
	addr string
	tls  *tls.Config
	grpc *grpc.Server
	done chan struct{}

	mu          sync.Mutex
	rand        *rand.Rand
	collections map[string]*collection
	aliases     map[string]string
	faults      map[string][]error // by full method, each for one call
	calls       map[string]int
	apiKey      string
	waitTimeout int // how many updates to answer with WaitTimeout
	recording   bool
	requests    []proto.Message
}

// collection is one collection.
type collection struct {
	config  *qdrant.CreateCollection
	indexes map[string]*qdrant.CreateFieldIndexCollection
	points  map[string]*point
	late    []func() // updates that were promised and not made
	op      uint64
}

type point struct {
	id      *qdrant.PointId
	payload map[string]*qdrant.Value
	vectors map[string]*qdrant.Vector
}

// Start serves on a free loopback port, over TLS when it is given.
func Start(over *tls.Config) (*Server, error) {
	s := &Server{tls: over, rand: rand.New(rand.NewPCG(1, 1)), collections: map[string]*collection{}, aliases: map[string]string{},
		faults: map[string][]error{}, calls: map[string]int{}}
	return s, s.Serve("127.0.0.1:0")
}

// Serve begins to serve, again after Stop with all that it holds.
func (s *Server) Serve(addr string) error {
	l, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", addr)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	s.addr, s.done = l.Addr().String(), make(chan struct{})
	opts := []grpc.ServerOption{grpc.UnaryInterceptor(s.intercept), grpc.MaxRecvMsgSize(256 << 20)}
	if s.tls != nil {
		opts = append(opts, grpc.Creds(credentials.NewTLS(s.tls)))
	}
	s.grpc = grpc.NewServer(opts...)
	qdrant.RegisterCollectionsServer(s.grpc, s)
	qdrant.RegisterPointsServer(s.grpc, &points{s: s})
	served, done := s.grpc, s.done
	go func() {
		defer close(done)
		_ = served.Serve(l) // it ends with Stop; clients see any other end
	}()
	return nil
}

// Addr is host:port.
func (s *Server) Addr() string { return s.addr }

// Stop ends all connections. What is stored stays.
func (s *Server) Stop() {
	s.grpc.Stop()
	<-s.done
}

// Fail makes the next calls of a method, such as "/qdrant.Points/Query", fail, one for each error.
func (s *Server) Fail(method string, errs ...error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults[method] = append(s.faults[method], errs...)
}

// Require makes the server want an API key.
func (s *Server) Require(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.apiKey = key
}

// Slow answers the next n waiting updates with WaitTimeout. They are made when Settle is called.
func (s *Server) Slow(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waitTimeout = n
}

// Settle makes the updates that are late.
func (s *Server) Settle() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.collections {
		for _, f := range c.late {
			f()
		}
		c.late = nil
	}
}

// Calls returns how often each full method was called since the last Calls, and keeps requests from now on.
func (s *Server) Calls() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	calls := s.calls
	s.calls, s.requests, s.recording = map[string]int{}, nil, true
	return calls
}

// Requests returns the requests since the last Calls.
func (s *Server) Requests() []proto.Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]proto.Message(nil), s.requests...)
}

func (s *Server) intercept(ctx context.Context, req any, info *grpc.UnaryServerInfo, h grpc.UnaryHandler) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls[info.FullMethod]++
	if m, ok := req.(proto.Message); ok && s.recording {
		s.requests = append(s.requests, m)
	}
	if s.apiKey != "" {
		md, _ := metadata.FromIncomingContext(ctx)
		if got := md.Get("api-key"); len(got) != 1 || got[0] != s.apiKey {
			return nil, status.Errorf(codes.Unauthenticated, "Must provide an API key or an Authorization bearer token")
		}
	}
	if errs := s.faults[info.FullMethod]; len(errs) > 0 {
		s.faults[info.FullMethod] = errs[1:]
		if errs[0] != nil {
			return nil, errs[0]
		}
	}
	return h(ctx, req)
}

// find resolves a name or an alias.
func (s *Server) find(name string) (*collection, error) {
	if to, ok := s.aliases[name]; ok {
		name = to
	}
	if c, ok := s.collections[name]; ok {
		return c, nil
	}
	return nil, status.Errorf(codes.NotFound, "Not found: Collection `%s` doesn't exist!", name)
}

func done() (*qdrant.CollectionOperationResponse, error) {
	return &qdrant.CollectionOperationResponse{Result: true}, nil
}

// Create makes a collection.
func (s *Server) Create(_ context.Context, r *qdrant.CreateCollection) (*qdrant.CollectionOperationResponse, error) {
	name := r.GetCollectionName()
	if s.collections[name] != nil || s.aliases[name] != "" {
		return nil, status.Errorf(codes.AlreadyExists, "Wrong input: Collection `%s` already exists!", name)
	}
	s.collections[name] = &collection{config: r, indexes: map[string]*qdrant.CreateFieldIndexCollection{}, points: map[string]*point{}}
	return done()
}

// Delete drops a collection and its aliases.
func (s *Server) Delete(_ context.Context, r *qdrant.DeleteCollection) (*qdrant.CollectionOperationResponse, error) {
	name := r.GetCollectionName()
	if s.collections[name] == nil {
		return &qdrant.CollectionOperationResponse{Result: false}, nil
	}
	delete(s.collections, name)
	for a, to := range s.aliases {
		if to == name {
			delete(s.aliases, a)
		}
	}
	return done()
}

// Update merges metadata; new vectors are refused.
func (s *Server) Update(_ context.Context, r *qdrant.UpdateCollection) (*qdrant.CollectionOperationResponse, error) {
	c, err := s.find(r.GetCollectionName())
	if err != nil {
		return nil, err
	}
	known := c.config.GetVectorsConfig().GetParamsMap().GetMap()
	for name, p := range r.GetVectorsConfig().GetParamsMap().GetMap() {
		if known[name] == nil {
			return nil, status.Errorf(codes.InvalidArgument, "Wrong input: Not existing vector name error: %s", name)
		}
		if p.GetHnswConfig() != nil {
			proto.Merge(known[name].HnswConfig, p.GetHnswConfig())
		}
	}
	for k, v := range r.GetMetadata() {
		c.config.Metadata[k] = v
	}
	return done()
}

// Get describes a collection.
func (s *Server) Get(_ context.Context, r *qdrant.GetCollectionInfoRequest) (*qdrant.GetCollectionInfoResponse, error) {
	c, err := s.find(r.GetCollectionName())
	if err != nil {
		return nil, err
	}
	schema := map[string]*qdrant.PayloadSchemaInfo{}
	for f, x := range c.indexes {
		schema[f] = &qdrant.PayloadSchemaInfo{DataType: qdrant.PayloadSchemaType(x.GetFieldType()) + 1, Params: x.GetFieldIndexParams()}
	}
	n := uint64(len(c.points))
	return &qdrant.GetCollectionInfoResponse{Result: &qdrant.CollectionInfo{Status: qdrant.CollectionStatus_Green, PointsCount: &n, IndexedVectorsCount: &n, PayloadSchema: schema,
		Config: &qdrant.CollectionConfig{Metadata: c.config.GetMetadata(), Params: &qdrant.CollectionParams{
			VectorsConfig: c.config.GetVectorsConfig(), SparseVectorsConfig: c.config.GetSparseVectorsConfig()}}}}, nil
}

// CollectionExists answers for aliases too.
func (s *Server) CollectionExists(_ context.Context, r *qdrant.CollectionExistsRequest) (*qdrant.CollectionExistsResponse, error) {
	_, err := s.find(r.GetCollectionName())
	return &qdrant.CollectionExistsResponse{Result: &qdrant.CollectionExists{Exists: err == nil}}, nil
}

// List names the collections, not the aliases.
func (s *Server) List(context.Context, *qdrant.ListCollectionsRequest) (*qdrant.ListCollectionsResponse, error) {
	out := &qdrant.ListCollectionsResponse{}
	for name := range s.collections {
		out.Collections = append(out.Collections, &qdrant.CollectionDescription{Name: name})
	}
	return out, nil
}

// UpdateAliases creates and deletes; creating one that exists repoints it.
func (s *Server) UpdateAliases(_ context.Context, r *qdrant.ChangeAliases) (*qdrant.CollectionOperationResponse, error) {
	for _, a := range r.GetActions() {
		switch {
		case a.GetCreateAlias() != nil:
			name, to := a.GetCreateAlias().GetAliasName(), a.GetCreateAlias().GetCollectionName()
			if s.collections[name] != nil {
				return nil, status.Errorf(codes.AlreadyExists, "Wrong input: Collection `%s` already exists!", name)
			}
			if s.collections[to] == nil {
				return nil, status.Errorf(codes.NotFound, "Not found: Collection `%s` doesn't exist!", to)
			}
			s.aliases[name] = to
		case a.GetDeleteAlias() != nil:
			delete(s.aliases, a.GetDeleteAlias().GetAliasName())
		}
	}
	return done()
}

// ListAliases lists all aliases.
func (s *Server) ListAliases(context.Context, *qdrant.ListAliasesRequest) (*qdrant.ListAliasesResponse, error) {
	out := &qdrant.ListAliasesResponse{}
	for name, to := range s.aliases {
		out.Aliases = append(out.Aliases, &qdrant.AliasDescription{AliasName: name, CollectionName: to})
	}
	return out, nil
}
