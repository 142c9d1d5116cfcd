package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Line is one setting in force, as `config show` prints it.
type Line struct {
	Key    string `json:"key"`
	Value  any    `json:"value"`
	Origin string `json:"origin"` // default, file, flag, or the variable's name
}

// hidden stands for a secret that is set.
const hidden = "(set, not shown)"

// Show lists what is in force, in the order of the reference. Secrets are not shown.
func (c *Config) Show() []Line {
	lines := make([]Line, 0, len(keys))
	for _, k := range keys {
		l := Line{Key: k.name, Value: c.values[k.name], Origin: "default"}
		if o, ok := c.origin[k.name]; ok {
			l.Origin = o
		}
		if k.secret && l.Value != "" {
			l.Value = hidden
		}
		lines = append(lines, l)
	}
	if c.Policy != nil {
		lines = append(lines, Line{"policy", fmt.Sprintf("preset %s, %d rules before it", c.Policy.Preset, len(c.Policy.Rules)), "file"})
	}
	for _, name := range slices.Sorted(maps.Keys(c.Tenants)) {
		lines = append(lines, Line{"tenants." + name, "(own section)", "file"})
	}
	for _, hash := range slices.Sorted(maps.Keys(c.Keys)) {
		k := c.Keys[hash]
		grants := fmt.Sprintf("tenant %s, role %s, agents %q", k.Tenant, k.Role, k.Agents)
		if k.Role == Installation {
			grants = "role installation"
		}
		lines = append(lines, Line{"keys." + abbreviate(hash), grants, "file"})
	}
	return lines
}

// Reference is the page docs/configuration.md.
func Reference() string {
	var b strings.Builder
	b.WriteString(`# Configuration

Made by ` + "`evoke config reference`" + `; do not edit.

Settings come from, each over the one before: the defaults below, one YAML file (` + "`--config`, else `EVOKE_CONFIG`, else" + `
` + "`evoke/config.yaml`" + ` in the user's configuration folder), ` + "`EVOKE_*`" + ` variables (an empty one counts as not set), flags. A key that is not
listed is refused with the nearest name that is; a value out of range is refused with the key and the range. ` + "`evoke config check`" + `
checks a file, ` + "`evoke config show`" + ` prints what is in force and where it comes from.

A secret may be given in a file of its own: ` + "`NAME_file: path`, or `EVOKE_…_FILE`" + `. Keys marked ° may be set for one tenant too.

`)
	b.WriteString("| key | default | range | variable | meaning |\n|---|---|---|---|---|\n")
	for _, k := range keys {
		name, meaning := "`"+k.name+"`", k.doc
		if k.tenant {
			name += " °"
		}
		if k.secret {
			meaning += "; a secret: better `" + k.name + fileSuffix + "`"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | `%s` | %s |\n", name, defaultText(k), k.want(), env(k.name), meaning)
	}
	b.WriteString(`
A running server reads the settings again when the file, or a file that holds a secret, changes, and on SIGHUP. Settings marked °,
` + "`log.level`, `server.metrics_public`" + ` and the sections below hold from the next call on; the log names those that need a restart. Settings
with a mistake in them are refused as a whole and those in force stay.

## policy
Which memory an agent works on: the first rule whose pattern matches the agent's name decides, your rules before the preset's. A call
without an agent is on the user's own memory. ` + "`user`" + `: the user's own memory; ` + "`pair`" + `: this user with this agent; ` + "`own`" + `: the agent's,
shared by the users granted it; ` + "`none`" + `: no memory. Preset ` + "`default`: `user-*`, `project-*`, `usermem-*` own, any other pair; `experts`" + `:
any other none.
` + "```yaml" + `
policy:
  preset: default
  rules:
    - { agent: "support-*", namespace: none }
` + "```" + `

## redaction
` + "`mode`" + ` is in the table above. It finds e-mail addresses, phone numbers, payment cards, national ids (China, USA), IBANs, IP addresses,
tokens of well-known services, private keys and secrets; the mask is the kind, such as ` + "`[email]`" + `. Under ` + "`patterns`" + `, by a name of your own (a–z, 0–9, _),
stand regular expressions (RE2) for what else is to be found; a tenant's patterns replace those of all. Names of users, agents, threads and metadata keys and ids are not gone over, nor what was stored before.
` + "```yaml" + `
redaction:
  mode: mask
  patterns:
    staff_no: 'EMP-\d{6}'
` + "```" + `

## llm.prompts
A folder with ` + "`en.VERSION.md`, `zh.VERSION.md`" + ` or both: the instruction to the model for conversations in English (and all other languages) and
in Chinese. It must say what ` + "`<conversation>` is and which `operations`" + ` to answer with; Evoke's own, in ` + "`extract/llm/prompts`" + `, are the
example. ` + "`LANGUAGE.VERSION.again.md`" + ` is said after an answer that could not be read. The version (letters, digits, dots, dashes) is part of
the extractor's name in the provenance of every item, so that what an older prompt gave can be told apart. A language without a file has
Evoke's own prompt. Changed files are read again while the server runs.

## tenants
Settings marked ° and ` + "`policy`" + ` for one tenant; what a section does not name is as for all. A tenant may put a policy of its own
(redaction, namespace, budget, retention, consolidation, review) over them while the server runs: ` + "`PUT /v1/admin/policy`, `evoke policy`" + `, which says of every part where it
comes from. Of two budgets the lower one holds.
` + "```yaml" + `
tenants:
  acme:
    memory: { max_facts: 300 }
    policy: { preset: experts }
` + "```" + `

## keys
API keys of the server, by the SHA-256 of the key; ` + "`evoke key new`" + ` makes one and prints what to add. ` + "`tenant`" + ` and ` + "`role`" + ` are needed. ` + "`role`" + `:
` + "`read`; `write` (and read); `admin` (and the `/v1/admin` routes; what is of the whole\ntenant needs `agents: [\"*\"]` and no `users`). `agents`" + `: patterns of the agents granted; without it only calls that name
no agent. ` + "`users`" + `: the users granted; without it all of the tenant. ` + "`name`" + ` appears in the log. A key of ` + "`role: installation`" + `, which has
neither tenant nor agents nor users, is above tenants (the ` + "`/v1/installation`" + ` routes: make, list, disable and enable tenants, and their
keys) and reads no memory; such a key is given here and nowhere else. Without any key the server listens on the
loopback address only, as the tenant ` + "`tenant`" + `, with everything granted.
` + "```yaml" + `
keys:
  9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08:
    name: chat server
    tenant: acme
    role: write
    agents: ["*"]
` + "```" + `
`)
	return b.String()
}

func defaultText(k key) string {
	if k.def == "" {
		return "(empty)"
	}
	return fmt.Sprintf("`%v`", k.def)
}
