package page

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Bounds of sessions.
const (
	idleFor     = 30 * time.Minute // a session that nobody uses ends
	livesFor    = 12 * time.Hour   // and so does one that is used all the time
	maxSessions = 1000             // beyond them the one unused longest ends
)

// session is a log-in. The key is kept, in memory alone, because it is asked anew whether it is good with every request:
// a key that is revoked or expires ends its sessions.
type session struct {
	key    string
	token  string // what a form must bring back
	made   time.Time
	used   time.Time
	cookie string
}

// sessions knows the log-ins by the hash of what their cookies hold, so that finding one takes no time that tells of others.
type sessions struct {
	clock func() time.Time
	mu    sync.Mutex
	open  map[[sha256.Size]byte]*session
}

func newSessions(clock func() time.Time) *sessions {
	return &sessions{clock: clock, open: map[[sha256.Size]byte]*session{}}
}

// random is text of 256 random bits.
func random() string {
	var b [32]byte
	_, _ = rand.Read(b[:]) // never fails
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// begin makes a session of a key that was found good.
func (s *sessions) begin(key string) session {
	now := s.clock()
	made := session{key: key, token: random(), made: now, used: now, cookie: random()}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sweep(now)
	s.open[sha256.Sum256([]byte(made.cookie))] = &made
	return made
}

// sweep ends what is over, and makes room for one more.
func (s *sessions) sweep(now time.Time) {
	var last [sha256.Size]byte
	var lastUsed time.Time
	for id, o := range s.open {
		if o.over(now) {
			delete(s.open, id)
			continue
		}
		if lastUsed.IsZero() || o.used.Before(lastUsed) {
			last, lastUsed = id, o.used
		}
	}
	if len(s.open) >= maxSessions {
		delete(s.open, last)
	}
}

// over reports whether the session has ended.
func (o *session) over(now time.Time) bool {
	return now.Sub(o.used) >= idleFor || now.Sub(o.made) >= livesFor
}

// find returns the session of a cookie and counts it as used.
func (s *sessions) find(cookie string) (session, bool) {
	if cookie == "" {
		return session{}, false
	}
	id, now := sha256.Sum256([]byte(cookie)), s.clock()
	s.mu.Lock()
	defer s.mu.Unlock()
	o, ok := s.open[id]
	if !ok {
		return session{}, false
	}
	if o.over(now) {
		delete(s.open, id)
		return session{}, false
	}
	if now.After(o.used) {
		o.used = now
	}
	return *o, true
}

func (s *sessions) end(cookie string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, sha256.Sum256([]byte(cookie)))
}

// Bounds of failed log-ins: keys have 256 random bits, so that guessing is hopeless at any pace; this keeps the attempts
// from costing much.
const (
	failuresAllowed = 10
	failuresWindow  = time.Minute
	maxAddresses    = 4096
)

// attempts counts failed log-ins by address.
type attempts struct {
	clock func() time.Time
	mu    sync.Mutex
	by    map[string]*failures
	swept time.Time
}

type failures struct {
	since time.Time
	n     int
}

func newAttempts(clock func() time.Time) *attempts {
	return &attempts{clock: clock, by: map[string]*failures{}}
}

// addressOf is whom attempts are counted for: the address, and of IPv6 its network, of which one machine may have all.
func addressOf(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		host = r.RemoteAddr
	}
	if ip := net.ParseIP(host); ip != nil && ip.To4() == nil {
		return ip.Mask(net.CIDRMask(64, 128)).String()
	}
	return host
}

// allowed reports whether the address may try once more.
func (a *attempts) allowed(address string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	f := a.by[address]
	return f == nil || a.clock().Sub(f.since) >= failuresWindow || f.n < failuresAllowed
}

func (a *attempts) failed(address string) {
	now := a.clock()
	a.mu.Lock()
	defer a.mu.Unlock()
	if f := a.by[address]; f != nil && now.Sub(f.since) < failuresWindow {
		f.n++
		return
	}
	if len(a.by) >= maxAddresses {
		a.makeRoom(now)
	}
	a.by[address] = &failures{now, 1}
}

// makeRoom forgets failures that are forgiven, once in a while, or else any.
func (a *attempts) makeRoom(now time.Time) {
	if now.Sub(a.swept) >= failuresWindow {
		a.swept = now
		for address, f := range a.by {
			if now.Sub(f.since) >= failuresWindow {
				delete(a.by, address)
			}
		}
	}
	for address := range a.by {
		if len(a.by) < maxAddresses {
			break
		}
		delete(a.by, address)
	}
}

// Names of cookies.
const (
	sessionCookie  = "evoke_session"
	visitorCookie  = "evoke_visitor"
	languageCookie = "evoke_language"
)

func cookieOf(r *http.Request, name string) string {
	c, err := r.Cookie(name)
	if err != nil || len(c.Value) > 200 {
		return ""
	}
	return c.Value
}

// setCookie gives a cookie that lasts so long; a negative time takes it back. Behind a proxy that speaks TLS for us the
// cookie is for TLS only, too.
func setCookie(w http.ResponseWriter, r *http.Request, name, value string, lasts time.Duration, same http.SameSite) {
	seconds := int(lasts / time.Second)
	if lasts < 0 {
		seconds = -1
	}
	http.SetCookie(w, &http.Cookie{
		Name: name, Value: value, Path: root, MaxAge: seconds, HttpOnly: true, SameSite: same,
		Secure: r.TLS != nil || strings.EqualFold(r.Header.Get("X-Forwarded-Proto"), "https"),
	})
}
