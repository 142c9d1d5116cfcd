package qdrantstore

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"math/big"
	"net"
	"testing"
	"time"

	"evoke/store"
	"evoke/store/qdrantstore/internal/standin"
)

// certificate makes one for the loopback address that signs itself.
func certificate(t *testing.T) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	c := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, c, c, &key.PublicKey, key)
	must(t, err)
	parsed, err := x509.ParseCertificate(der)
	must(t, err)
	pool := x509.NewCertPool()
	pool.AddCert(parsed)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pool
}

// TestTLS: an https address is spoken to over TLS, and only to a server whose certificate is known.
func TestTLS(t *testing.T) {
	ctx := context.Background()
	cert, pool := certificate(t)
	srv, err := standin.Start(&tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12})
	must(t, err)
	t.Cleanup(srv.Stop)
	db, err := Open(ctx, &Options{URL: "https://" + srv.Addr(), TLS: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS13}})
	must(t, err)
	put(t, db, alice, facts(2)...)
	must(t, db.Close())
	for name, o := range map[string]*Options{
		"an unknown certificate": {URL: "https://" + srv.Addr(), Timeout: 300 * time.Millisecond},
		"in clear":               {URL: "http://" + srv.Addr(), Timeout: 300 * time.Millisecond},
	} {
		_, err := Open(ctx, o)
		wantErr(t, name, err, store.ErrUnavailable)
	}
}
