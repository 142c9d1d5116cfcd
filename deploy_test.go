package evoke_test

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/compose-spec/compose-go/v2/loader"
	"github.com/compose-spec/compose-go/v2/types"
	"github.com/google/go-cmp/cmp"
)

// loadCompose loads docker-compose.yml as Compose would with one profile, with the given variables and no others.
func loadCompose(t *testing.T, profile string, env types.Mapping) *types.Project {
	t.Helper()
	text, err := os.ReadFile("docker-compose.yml")
	if err != nil {
		t.Fatal(err)
	}
	project, err := loader.LoadWithContext(context.Background(), types.ConfigDetails{
		WorkingDir:  ".",
		ConfigFiles: []types.ConfigFile{{Filename: "docker-compose.yml", Content: text}},
		Environment: env,
	}, loader.WithProfiles([]string{profile}))
	if err != nil {
		t.Fatalf("docker-compose.yml, profile %s: %v", profile, err)
	}
	return project
}

func service(t *testing.T, project *types.Project, name string) types.ServiceConfig {
	t.Helper()
	found, ok := project.Services[name]
	if !ok {
		t.Fatalf("no service %s among %v", name, project.ServiceNames())
	}
	return found
}

// volumeAt returns the named volume mounted at target, "" when there is none.
func volumeAt(s types.ServiceConfig, target string) string {
	for _, v := range s.Volumes {
		if v.Type == types.VolumeTypeVolume && v.Target == target && !v.ReadOnly {
			return v.Source
		}
	}
	return ""
}

func TestComposeProfiles(t *testing.T) {
	for profile, want := range map[string][]string{
		"single": {"evoke"},
		"qdrant": {"evoke-on-qdrant", "qdrant"},
		"":       nil, // nothing starts by accident
	} {
		project := loadCompose(t, profile, nil)
		got := project.ServiceNames()
		slices.Sort(got)
		if diff := cmp.Diff(want, got, cmp.Transformer("empty", func(s []string) []string { return append([]string{}, s...) })); diff != "" {
			t.Errorf("services of profile %q (-want +got):\n%s", profile, diff)
		}
	}
}

func TestComposeServicesAreConfined(t *testing.T) {
	for _, profile := range []string{"single", "qdrant"} {
		project := loadCompose(t, profile, nil)
		for name, s := range project.Services {
			if uid, _, _ := strings.Cut(s.User, ":"); uid == "" || uid == "0" || uid == "root" {
				t.Errorf("%s runs as user %q, want one without privileges", name, s.User)
			}
			if !s.ReadOnly {
				t.Errorf("%s: the root file system is writable", name)
			}
			if !slices.Contains(s.CapDrop, "ALL") || s.Privileged || len(s.CapAdd) > 0 {
				t.Errorf("%s keeps capabilities (drop %v, add %v)", name, s.CapDrop, s.CapAdd)
			}
			if !slices.Contains(s.SecurityOpt, "no-new-privileges:true") {
				t.Errorf("%s may gain privileges", name)
			}
			if s.HealthCheck == nil || s.HealthCheck.Disable || len(s.HealthCheck.Test) < 2 {
				t.Errorf("%s has no health check", name)
			}
			if len(s.Ports) == 0 {
				t.Errorf("%s publishes nothing", name)
			}
			for _, port := range s.Ports {
				if port.HostIP != "127.0.0.1" {
					t.Errorf("%s publishes port %s on %q, want the loopback address", name, port.Published, port.HostIP)
				}
			}
			if len(s.Secrets) == 0 {
				t.Errorf("%s takes no secret file", name)
			}
			for _, secret := range s.Secrets {
				if project.Secrets[secret.Source].File == "" {
					t.Errorf("%s: secret %s is not a file", name, secret.Source)
				}
			}
			for key, value := range s.Environment {
				secretName := strings.Contains(key, "KEY") || strings.Contains(key, "PASSWORD") || strings.Contains(key, "TOKEN")
				if secretName && (value == nil || !strings.HasPrefix(*value, "/run/secrets/")) {
					t.Errorf("%s: %s carries a secret in the environment, where every child and `inspect` can read it", name, key)
				}
			}
			for _, v := range s.Volumes {
				if v.Type != types.VolumeTypeVolume || v.Source == "" {
					t.Errorf("%s: %s is not a named volume", name, v.Target)
				}
			}
		}
	}
}

func TestComposePutsDataOnVolumes(t *testing.T) {
	image := parseDockerfile(t)
	data := image.env["EVOKE_STORE_PATH"]
	volumes := map[string]string{}
	for _, c := range []struct{ profile, service, target string }{
		{"single", "evoke", data},
		{"qdrant", "evoke-on-qdrant", data},
		{"qdrant", "qdrant", "/qdrant/storage"},
	} {
		s := service(t, loadCompose(t, c.profile, nil), c.service)
		volume := volumeAt(s, c.target)
		if volume == "" {
			t.Errorf("%s: no volume at %s, so the data go with the container", c.service, c.target)
		}
		if other, taken := volumes[volume]; taken {
			t.Errorf("%s and %s share volume %s", c.service, other, volume)
		}
		volumes[volume] = c.service
		if c.service == "qdrant" {
			continue
		}
		if set := s.Environment["EVOKE_STORE_PATH"]; set == nil || *set != data {
			t.Errorf("%s: EVOKE_STORE_PATH is not %s, where the volume is", c.service, data)
		}
		if s.User != image.user {
			t.Errorf("%s runs as %s, but %s belongs to %s", c.service, s.User, data, image.user)
		}
	}
}

// What Compose starts is pinned, and asks for the health of the program by the program.
func TestComposeIsPinned(t *testing.T) {
	for _, profile := range []string{"single", "qdrant"} {
		for name, s := range loadCompose(t, profile, nil).Services {
			if _, tag, _ := strings.Cut(s.Image, ":"); tag == "" || tag == "latest" {
				t.Errorf("%s: image %q has no version", name, s.Image)
			}
			if name != "qdrant" && !slices.Equal(s.HealthCheck.Test[:3], []string{"CMD", "/usr/local/bin/evoke", "health"}) {
				t.Errorf("%s: health check %v", name, s.HealthCheck.Test)
			}
			if grace := s.StopGracePeriod; grace == nil || time.Duration(*grace) < 15*time.Second {
				t.Errorf("%s: it is killed %v after it was told to stop, sooner than requests may take", name, grace)
			}
		}
	}
}

func TestComposeQdrant(t *testing.T) {
	project := loadCompose(t, "qdrant", nil)
	server := service(t, project, "qdrant")
	if tag, ok := strings.CutPrefix(server.Image, "qdrant/qdrant:v1.17.1"); !ok || tag != "" && tag != "-unprivileged" {
		t.Errorf("image %s, want version 1.17.1, which the client is made for", server.Image)
	}
	// What the server writes beside its data must lie on the volume too, since the rest is read-only.
	for _, key := range []string{"QDRANT__STORAGE__SNAPSHOTS_PATH", "QDRANT_INIT_FILE_PATH"} {
		if value := server.Environment[key]; value == nil || !strings.HasPrefix(*value, "/qdrant/storage/") {
			t.Errorf("%s is not below /qdrant/storage", key)
		}
	}
	evoke := service(t, project, "evoke-on-qdrant")
	if url := evoke.Environment["EVOKE_STORE_URL"]; url == nil || *url != "http://qdrant:6334" {
		t.Error("EVOKE_STORE_URL does not name the server's gRPC port")
	}
	if need, ok := evoke.DependsOn["qdrant"]; !ok || need.Condition != types.ServiceConditionHealthy {
		t.Error("evoke does not wait until the server is healthy")
	}
}

func TestComposeVariables(t *testing.T) {
	project := loadCompose(t, "single", types.Mapping{"EVOKE_PORT": "9000", "EVOKE_KEYS_FILE": "/etc/evoke/keys.yaml", "EVOKE_TARGET": "lexical"})
	s := service(t, project, "evoke")
	if got := s.Ports[0].Published; got != "9000" {
		t.Errorf("published port %s, want 9000", got)
	}
	if got := project.Secrets["evoke_keys"].File; got != "/etc/evoke/keys.yaml" {
		t.Errorf("keys file %s, want the one given", got)
	}
	if !slices.Contains(parseDockerfile(t).stages, s.Build.Target) {
		t.Errorf("build target %s is not a stage of the Dockerfile", s.Build.Target)
	}
}

// A variable that is no setting would be refused by the program at its start.
func TestVariablesAreSettings(t *testing.T) {
	reference, err := os.ReadFile("docs/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	check := func(where, name string) {
		setting := strings.TrimSuffix(name, "_FILE")
		if strings.HasPrefix(name, "EVOKE_") && !strings.Contains(string(reference), "`"+setting+"`") {
			t.Errorf("%s sets %s, which docs/configuration.md does not know", where, name)
		}
	}
	for name := range parseDockerfile(t).env {
		check("Dockerfile", name)
	}
	for _, profile := range []string{"single", "qdrant"} {
		for _, s := range loadCompose(t, profile, nil).Services {
			for name := range s.Environment {
				check(s.Name, name)
			}
		}
	}
}

// dockerImage is what the Dockerfile says about the image that it builds last.
type dockerImage struct {
	stages                  []string
	from                    map[string]string // stage → what it starts from
	env                     map[string]string
	user, workdir           string
	volumes                 []string
	entrypoint, healthcheck string
	runs                    []string // RUN commands of all stages
	copies                  []string // COPY lines of all stages
}

// parseDockerfile reads the instructions that the tests ask about; what a stage sets is inherited by those built on it, and
// the last stage's view is returned.
func parseDockerfile(t *testing.T) dockerImage {
	t.Helper()
	file, err := os.Open("Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	image := dockerImage{from: map[string]string{}, env: map[string]string{}}
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		for strings.HasSuffix(line, "\\") && lines.Scan() {
			line = strings.TrimSuffix(line, "\\") + " " + strings.TrimSpace(lines.Text())
		}
		instruction, rest, _ := strings.Cut(line, " ")
		rest = strings.TrimSpace(rest)
		switch strings.ToUpper(instruction) {
		case "FROM":
			words := strings.Fields(rest)
			if len(words) != 3 || !strings.EqualFold(words[1], "AS") {
				t.Fatalf("Dockerfile: %s: every stage needs a name", line)
			}
			if len(image.stages) > 0 && !slices.Contains(image.stages, words[0]) {
				image.env, image.user, image.workdir, image.volumes, image.entrypoint, image.healthcheck = map[string]string{}, "", "", nil, "", ""
			}
			image.stages = append(image.stages, words[2])
			image.from[words[2]] = words[0]
		case "ENV":
			for _, pair := range strings.Fields(rest) {
				key, value, _ := strings.Cut(pair, "=")
				image.env[key] = value
			}
		case "USER":
			image.user = rest
		case "WORKDIR":
			image.workdir = rest
		case "VOLUME":
			if err := json.Unmarshal([]byte(rest), &image.volumes); err != nil {
				t.Fatalf("Dockerfile: %s: %v", line, err)
			}
		case "ENTRYPOINT":
			image.entrypoint = rest
		case "HEALTHCHECK":
			image.healthcheck = rest
		case "RUN":
			image.runs = append(image.runs, rest)
		case "COPY":
			image.copies = append(image.copies, rest)
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return image
}

func TestDockerfile(t *testing.T) {
	image := parseDockerfile(t)
	if len(image.stages) < 2 {
		t.Errorf("%d stages, want the compiler in one and the program in another", len(image.stages))
	}
	last := image.stages[len(image.stages)-1]
	for base := last; ; base = image.from[base] {
		if strings.HasPrefix(base, "golang") {
			t.Errorf("stage %s is built on the compiler's image", last)
		}
		if _, ok := image.from[base]; !ok {
			break
		}
	}
	if !slices.ContainsFunc(image.runs, func(run string) bool {
		return strings.Contains(run, "CGO_ENABLED=0 go build") && strings.HasSuffix(run, "./cmd/evoke")
	}) {
		t.Error("the binary is not built static (CGO_ENABLED=0 go build … ./cmd/evoke)")
	}
	uid, _, _ := strings.Cut(image.user, ":")
	if uid == "" || strings.Trim(uid, "0123456789") != "" || uid == "0" {
		t.Errorf("user %q, want a number other than 0, so that an orchestrator can see that it is not root", image.user)
	}
	data := image.env["EVOKE_STORE_PATH"]
	if data == "" || !path.IsAbs(data) {
		t.Fatalf("EVOKE_STORE_PATH = %q, want an absolute path", data)
	}
	if !slices.Contains(image.volumes, data) || image.workdir != data {
		t.Errorf("data in %s, volumes %v, work folder %s: want all the same", data, image.volumes, image.workdir)
	}
	if !slices.ContainsFunc(image.copies, func(args string) bool {
		return strings.Contains(args, "--chown="+image.user) && strings.HasSuffix(args, " "+data)
	}) {
		t.Errorf("%s does not belong to user %s, who could not write to a new volume there", data, image.user)
	}
	if !strings.Contains(image.healthcheck, `"/usr/local/bin/evoke", "health"`) {
		t.Errorf("health check %q does not ask the program itself: the image has no other", image.healthcheck)
	}
	for stage, base := range image.from {
		if _, tag, _ := strings.Cut(base, ":"); !slices.Contains(image.stages, base) && base != "scratch" && (tag == "" || tag == "latest") {
			t.Errorf("stage %s is built on %q, whatever that is on the day: name a version", stage, base)
		}
	}
	if !strings.HasPrefix(image.entrypoint, "[") {
		t.Errorf("entry point %q runs under a shell, which swallows signals", image.entrypoint)
	}
}

// The README's two commands are the contract with who has just cloned the project.
func TestReadmeCommands(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	for heading, want := range map[string]string{"Run it": "make demo", "Test it": "make test"} {
		_, section, ok := strings.Cut(string(text), "\n## "+heading+"\n")
		if !ok {
			t.Errorf("README has no section %q", heading)
			continue
		}
		block, ok := strings.CutPrefix(section, "```\n")
		if !ok {
			t.Errorf("README: %q does not open with a fenced block", heading)
			continue
		}
		if command, _, _ := strings.Cut(block, "\n```"); command != want {
			t.Errorf("README: %q opens with %q, want %q alone", heading, command, want)
		}
	}
}
