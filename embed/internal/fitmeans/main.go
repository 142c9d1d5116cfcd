// Command fitmeans fits the mean vectors of embed/centre for one installed
// model, on the chat lines in lines/ (written for this purpose) and, if given,
// on the texts of JSON Lines files with the fields "text" and "speaker":
//
//	go run ./embed/internal/fitmeans MODEL embed/centre/data "where the extra files come from" [FILE.jsonl.gz …]
//
// Only means leave this program, never a text. It is run by hand when a model is
// added; changed means need a new version, for vectors centred with different
// means must not meet.
package main

import (
	"bufio"
	"compress/gzip"
	"context"
	"embed"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"evoke/embed/centre"
	"evoke/embed/local"
	"evoke/embed/modelstore"
)

//go:embed lines/*.txt
var lines embed.FS

func main() {
	if len(os.Args) < 4 {
		fmt.Fprintln(os.Stderr, "fitmeans: want MODEL OUT-FOLDER NOTE [FILE.jsonl.gz …]")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2], os.Args[3], os.Args[4:]); err != nil {
		fmt.Fprintln(os.Stderr, "fitmeans:", err)
		os.Exit(1)
	}
}

func run(model, out, note string, extra []string) error {
	if out == "" {
		return errors.New("no output folder is named")
	}
	ctx := context.Background()
	store, err := modelstore.New(nil)
	if err != nil {
		return err
	}
	enc, err := store.Open(ctx, model, &local.Options{Raw: true})
	if err != nil {
		return err
	}
	texts, err := corpus(extra)
	if err != nil {
		return err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# Mean vectors per script of %s, revision %s.\n", enc.Model().Name, enc.Model().Revision)
	fmt.Fprintf(&b, "# Fitted by embed/internal/fitmeans on the chat lines of its folder lines/, each as\n# \"[date] name: text\" and as \"name: text\".\n")
	if note != "" {
		fmt.Fprintf(&b, "# %s\n", note)
	}
	fmt.Fprintf(&b, "# A line is a script, the number of texts, and the vector: base64 of little-endian float32.\n")
	fmt.Fprintf(&b, "version c1\n")
	all := make([]float64, enc.Model().Dim)
	var scripts int
	for s := centre.Other + 1; int(s) < centre.Scripts; s++ {
		mean, err := meanOf(ctx, enc, texts[s])
		if err != nil {
			return err
		}
		for i, x := range mean {
			all[i] += x
		}
		scripts++
		writeMean(&b, s, len(texts[s]), mean)
	}
	for i := range all {
		all[i] /= float64(scripts)
	}
	writeMean(&b, centre.Other, 0, all)
	return os.WriteFile(filepath.Join(out, enc.Model().Name+".txt"), []byte(b.String()), 0o644)
}

func writeMean(b *strings.Builder, s centre.Script, n int, mean []float64) {
	raw := make([]byte, 0, 4*len(mean))
	for _, x := range mean {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(float32(x)))
	}
	fmt.Fprintf(b, "mean %s %d %s\n", s, n, base64.StdEncoding.EncodeToString(raw))
}

// meanOf is the mean of the unit vectors of texts.
func meanOf(ctx context.Context, enc *local.Encoder, texts []string) ([]float64, error) {
	vs, err := enc.EmbedPassages(ctx, texts)
	if err != nil {
		return nil, err
	}
	mean := make([]float64, enc.Model().Dim)
	for _, v := range vs {
		for i, x := range v {
			mean[i] += float64(x) / float64(len(vs))
		}
	}
	return mean, nil
}

// names of speakers by script, beside the Latin ones that occur everywhere.
var names = map[centre.Script][]string{
	centre.Latin:      {"Anna", "Tom", "user", "assistant", "Maria", "James", "Priya", "Lukas"},
	centre.Han:        {"李娜", "王伟", "user", "assistant", "小明"},
	centre.Kana:       {"美咲", "健太", "user", "assistant", "ユキ"},
	centre.Hangul:     {"민수", "지은", "user", "assistant"},
	centre.Cyrillic:   {"Миша", "Ольга", "user", "assistant"},
	centre.Arabic:     {"سامي", "ليلى", "user", "assistant"},
	centre.Devanagari: {"रोहन", "प्रिया", "user", "assistant"},
	centre.Thai:       {"ต้น", "มะลิ", "user", "assistant"},
}

// corpus gathers the texts of every script in both forms.
func corpus(extra []string) (map[centre.Script][]string, error) {
	texts := make(map[centre.Script][]string)
	day := time.Date(2023, 1, 3, 0, 0, 0, 0, time.UTC)
	add := func(s centre.Script, speaker, text string) {
		day = day.AddDate(0, 0, 5)
		line := speaker + ": " + text
		texts[s] = append(texts[s], line, day.Format("[2 January 2006] ")+line)
	}
	for s := centre.Other + 1; int(s) < centre.Scripts; s++ {
		raw, err := lines.ReadFile("lines/" + s.String() + ".txt")
		if err != nil {
			return nil, err
		}
		for i, l := range strings.Split(strings.TrimSpace(string(raw)), "\n") {
			add(s, names[s][i%len(names[s])], l)
		}
	}
	for _, file := range extra {
		items, err := readItems(file)
		if err != nil {
			return nil, err
		}
		for _, it := range items {
			add(centre.Of(it.Text), it.Speaker, it.Text)
		}
	}
	delete(texts, centre.Other)
	return texts, nil
}

type item struct {
	Text    string `json:"text"`
	Speaker string `json:"speaker"`
}

func readItems(file string) ([]item, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var r io.Reader = f
	if strings.HasSuffix(file, ".gz") {
		if r, err = gzip.NewReader(f); err != nil {
			return nil, err
		}
	}
	var items []item
	sc := bufio.NewScanner(r)
	sc.Buffer(nil, 1<<22)
	for sc.Scan() {
		var it item
		if err := json.Unmarshal(sc.Bytes(), &it); err != nil {
			return nil, err
		}
		items = append(items, it)
	}
	return slices.Clip(items), sc.Err()
}
