package extract

import (
	"regexp"
	"strings"
)

// Files are handed to an agent inside blocks that its client writes into the user's message. They are temporary, and
// paths in a memory mislead, so the blocks are cut out of what is stored.
var (
	uploadTags = []string{
		"uploaded_files", "uploaded_file", "current_uploads", "previous_uploads", "uploads", "attached_files", "attachments",
		"file_attachments", "上传文件", "上传的文件", "已上传文件", "已上传的文件", "当前上传", "历史上传", "附件",
	}
	uploadOpen = regexp.MustCompile(`(?i)<(` + strings.Join(uploadTags, "|") + `)(?:\s[^<>]{0,200})?>`)
	// Lines that clients write instead of a block: a bracketed note, alone on its line, that names an upload.
	uploadLine = regexp.MustCompile(`(?im)^[ \t]*(?:\[(?:uploaded|attached) files?\b[^\[\]\n]{0,500}\]|[\[【](?:已?上传(?:的|了)?(?:文件|附件)|附件|用户上传(?:了|的)?文件)[:：]?[^\[\]【】\n]{0,500}[\]】])[ \t]*$`)
)

// stripUploads cuts upload blocks and notes. A block without its end tag is left as it is: cutting the rest of the
// message would lose what the user said.
func stripUploads(s string) string {
	if strings.IndexByte(s, '<') >= 0 {
		s = stripBlocks(s)
	}
	if strings.ContainsAny(s, "[【") {
		s = uploadLine.ReplaceAllString(s, "")
	}
	return s
}

func stripBlocks(s string) string {
	var b strings.Builder
	endless := map[string]bool{} // tags known to have no end further on: keeps the scan linear
	for {
		m := uploadOpen.FindStringSubmatchIndex(s)
		if m == nil {
			break
		}
		end := "</" + s[m[2]:m[3]] + ">"
		at := -1
		if tag := strings.ToLower(end); !endless[tag] {
			at = indexFold(s[m[1]:], end)
			endless[tag] = at < 0
		}
		if at < 0 { // keep the tag and look on behind it
			b.WriteString(s[:m[1]])
			s = s[m[1]:]
			continue
		}
		b.WriteString(s[:m[0]])
		s = s[m[1]+at+len(end):]
	}
	b.WriteString(s)
	return b.String()
}

// indexFold is strings.Index for an end tag whatever the case of its ASCII letters.
func indexFold(s, tag string) int {
	for from := 0; ; {
		i := strings.Index(s[from:], "</")
		if i < 0 {
			return -1
		}
		i += from
		if len(s)-i >= len(tag) && strings.EqualFold(s[i:i+len(tag)], tag) {
			return i
		}
		from = i + 2
	}
}
