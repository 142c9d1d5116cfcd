package local_test

import (
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strconv"
	"testing"

	"evoke/embed"
	"evoke/embed/centre"
	"evoke/embed/local"
	"evoke/embed/modelstore"
)

// golden is what the Hugging Face tokenizer and onnxruntime (32-bit floats, the
// same weights widened) make of testdata/texts.json.gz as queries: the ids of
// all texts, and the vectors of some, as 16-bit integers of 1/65534.
type golden struct {
	IDs     [][]int32         `json:"ids"`
	Vectors map[string]string `json:"vectors"`
}

func readGolden(t *testing.T, name string, into any) {
	t.Helper()
	f, err := os.Open("testdata/" + name + ".json.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.NewDecoder(z).Decode(into); err != nil {
		t.Fatal(err)
	}
}

// installed opens a real model, or skips.
func installed(t testing.TB, name string, o *local.Options) *local.Encoder {
	t.Helper()
	store, err := modelstore.New(nil)
	if err != nil {
		t.Skipf("no folder of models: %v", err)
	}
	e, err := store.Open(context.Background(), name, o)
	if errors.Is(err, modelstore.ErrNotInstalled) {
		t.Skipf("real weights are not tested: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return e
}

var models = []string{modelstore.Default, modelstore.English}

func TestGoldenTokens(t *testing.T) {
	var texts []string
	readGolden(t, "texts", &texts)
	if len(texts) < 500 {
		t.Fatalf("only %d texts", len(texts))
	}
	for _, name := range models {
		t.Run(name, func(t *testing.T) {
			e := installed(t, name, &local.Options{Raw: true})
			var g golden
			readGolden(t, name, &g)
			for i, s := range texts {
				if got := e.Tokens(embed.Query, s); !slices.Equal(got, g.IDs[i]) {
					t.Errorf("%.60q:\n got %v\nwant %v", s, got, g.IDs[i])
				}
			}
		})
	}
}

func TestGoldenVectors(t *testing.T) {
	var texts []string
	readGolden(t, "texts", &texts)
	for _, name := range models {
		for _, level := range []string{"avx512", "avx2", "generic"} {
			t.Run(name+"/"+level, func(t *testing.T) {
				if testing.Short() && level != "avx2" {
					t.Skip("the other levels of instructions run without -short")
				}
				e := installed(t, name, &local.Options{Raw: true, Instructions: level})
				if e.Instructions() != level {
					t.Skipf("this machine has no %s", level)
				}
				checkVectors(t, e, texts, name, level != "avx512")
			})
		}
	}
}

func checkVectors(t *testing.T, e *local.Encoder, texts []string, name string, few bool) {
	var g golden
	readGolden(t, name, &g)
	worst, checked := 1.0, 0
	for key, packed := range g.Vectors {
		i, err := strconv.Atoi(key)
		if err != nil {
			t.Fatal(err)
		}
		if few && (len(g.IDs[i]) > 40 || checked >= 4) {
			continue
		}
		raw, err := base64.StdEncoding.DecodeString(packed)
		if err != nil || len(raw) != 2*e.Model().Dim {
			t.Fatalf("vector %d: %d bytes, %v", i, len(raw), err)
		}
		want := make([]float32, e.Model().Dim)
		for j := range want {
			want[j] = float32(int16(binary.LittleEndian.Uint16(raw[2*j:]))) / 65534
		}
		c := dot(query(t, e, texts[i]), want)
		worst = min(worst, c)
		checked++
		if c < 0.9999 {
			t.Errorf("%.60q: cosine %v with the reference", texts[i], c)
		}
	}
	t.Logf("%d vectors, lowest cosine %.7f", checked, worst)
}

// Centring makes a passage in one language and a question in another meet.
func TestAcrossLanguages(t *testing.T) {
	e := installed(t, modelstore.Default, nil)
	if m := e.Model(); m.Centring == "" || m.Low != centre.Low || m.High != centre.High {
		t.Errorf("the default model is not centred: %+v", m)
	}
	passages := []string{
		"Anna: I'm allergic to peanuts, so please check the label.",
		"Tom: The server went down again, we restarted it twice.",
		"李娜: 我妹妹下个月要搬到海边去住，还带着两只猫。",
		"王伟: 我今年的目标是每天写一页文章。",
		"美咲: 一月からチェロを習い始めました。",
		"健太: 祖父は昔、小さな時計屋をやっていました。",
	}
	vs, err := e.EmbedPassages(context.Background(), passages)
	if err != nil {
		t.Fatal(err)
	}
	for q, want := range map[string]int{
		"谁对花生过敏？":                                 0,
		"サーバーに何が起きましたか？":                          1,
		"Who is moving to the seaside with cats?": 2,
		"今年の目標は何ですか？":                             3,
		"Which instrument is she learning?":       4,
		"爷爷以前是做什么的？":                              5,
	} {
		v, best := query(t, e, q), 0
		for i := range vs {
			if dot(v, vs[i]) > dot(v, vs[best]) {
				best = i
			}
		}
		if best != want {
			t.Errorf("%q finds %q, want %q", q, passages[best], passages[want])
		}
	}
}
