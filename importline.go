package evoke

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

var errLongLine = errors.New("line too long")

// readLine returns the next line without its end, and how many bytes it took; at the end of the input, the rest with io.EOF. A
// line over the limit is read past and answered by errLongLine.
func readLine(r *bufio.Reader) (line []byte, size int64, err error) {
	long := false
	for {
		part, err := r.ReadSlice('\n')
		size += int64(len(part))
		if long = long || len(line)+len(part) > maxImportLine; !long {
			line = append(line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case long && (err == nil || errors.Is(err, io.EOF)):
			return nil, size, errLongLine
		case err != nil:
			return bytes.TrimRight(line, " \r\n"), size, err
		default:
			return bytes.TrimRight(line, " \r\n"), size, nil
		}
	}
}
