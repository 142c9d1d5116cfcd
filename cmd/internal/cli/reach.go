package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"evoke/store"
)

// reach says which memories a command works on: what --user and --agent mean to it, and what it takes with neither.
type reach int

const (
	noMemory  reach = iota // the tenant, the store, or none at all
	oneMemory              // the one that they name; with neither, that of the user "default"
	anyMemory              // those of the user, with the agent; with neither, every memory of the tenant
	anyUser                // as anyMemory, but by the user alone
	told                   // as anyMemory, but every memory wants --all-of-tenant
)

// reaches are those of the commands that work on memories.
var reaches = map[string]reach{
	"ingest": oneMemory, "flush": oneMemory, "remember": oneMemory, "get": oneMemory, "update": oneMemory, "list": oneMemory, "recent": oneMemory,
	"recall": oneMemory, "context": oneMemory, "block": oneMemory, "feedback": oneMemory, "outcome": oneMemory, "forget": oneMemory,
	"restore": oneMemory, "sources": oneMemory, "undo": oneMemory, "diff": oneMemory, "stats": oneMemory, "profile": oneMemory, "import": oneMemory,
	"events": anyMemory, "review list": anyMemory, "review approve": anyMemory, "review reject": anyMemory, "export": anyMemory, "audit": anyUser,
	"consolidate": told, "retain": told, "erase": told, "hold add": told,
}

// ofThread are the commands that --thread narrows or places.
var ofThread = map[string]bool{
	"ingest": true, "flush": true, "events": true, "review list": true, "review approve": true, "review reject": true, "remember": true, "list": true,
	"recent": true, "recall": true, "context": true, "forget": true, "restore": true, "hold add": true, "erase": true, "undo": true,
}

// whoseNames are the flags that name a memory.
var whoseNames = [...]string{"user", "agent"}

// whoseFlags are what they say in the help of a command, which refuses one of which nothing is said here.
var whoseFlags = map[reach][len(whoseNames)]string{
	oneMemory: {`whose memory (default "default")`, "agent; the namespace policy says which memory it works on"},
	anyMemory: {"only what is in this user's memories (default: every memory of the tenant)", "only what is in memories with this agent"},
	anyUser:   {"only what was done to this user's memories (default: to every memory of the tenant)", ""},
	told:      {"every memory of this user (with neither --user nor --agent: --all-of-tenant)", "every memory with this agent"},
}

// verbOf is a command without the program's name: "hold add".
func verbOf(c *cobra.Command) string { return strings.TrimPrefix(c.CommandPath(), "evoke ") }

// whose is what the program's help says of it.
const whose = `Whose memory: --user and --agent name it. With neither, commands that work in one memory take that of the user "default"; those
that list, decide on or copy what a tenant has (audit, events, export, review) take every memory; and those that change or keep many at
once (consolidate, erase, hold, retain) want --all-of-tenant, which flush takes, too. The id of an operation says itself whose it is
(undo --operation, restore --batch). --all is everything in the one memory.`

const allOfTenant = "all-of-tenant"

func addAllOfTenant(c *cobra.Command, all *bool) {
	c.Flags().BoolVar(all, allOfTenant, false, "every memory of the tenant")
}

// showReach has the help of a command say what --user, --agent and --thread mean to it.
func showReach(c *cobra.Command) {
	f := c.Root().PersistentFlags()
	verb := verbOf(c)
	root := !c.HasParent()
	f.Lookup("thread").Hidden = !root && !ofThread[verb]
	for i, name := range whoseNames {
		flag, text := f.Lookup(name), whoseFlags[reaches[verb]][i]
		if flag.Hidden = !root && text == ""; text != "" {
			flag.Usage = text
		}
	}
}

// checkReach refuses flags that a command would not heed: it would work on more than was meant. So it would with a name that a
// script left empty.
func checkReach(c *cobra.Command) error {
	verb := verbOf(c)
	if c.Flags().Changed("thread") && !ofThread[verb] {
		return store.Invalid("--thread", "left out: evoke "+verb+" does not work on single conversations", "")
	}
	for _, name := range [...]string{"user", "agent", "thread"} {
		if f := c.Flags().Lookup(name); f.Changed && strings.TrimSpace(f.Value.String()) == "" {
			return store.Invalid("--"+name, "a name, or left out", "an empty one")
		}
	}
	for i, name := range whoseNames {
		if c.Flags().Changed(name) && whoseFlags[reaches[verb]][i] == "" {
			return store.Invalid("--"+name, "left out: evoke "+verb+" does not work on the memories of single "+name+"s", "")
		}
	}
	return nil
}

// checkTold refuses a command that was told neither whose memories it works on nor that all of the tenant's are meant, or both.
func (a *app) checkTold(all bool) error {
	if all == (a.who.User+a.who.Agent != "") {
		return store.Invalid("--user", "given, or --agent, or both, or --"+allOfTenant+" alone: they say whose memories it works on", "")
	}
	return nil
}
