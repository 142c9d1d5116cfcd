package tokens

import "container/heap"

// mergeCount is the number of tokens that byte pair merging leaves of piece: again and again the adjacent pair of the
// lowest rank is joined, of equal ones the leftmost. A heap of candidate pairs over a linked list makes it n·log n.
func mergeCount(piece string, ranks map[string]int) int {
	n := len(piece)
	if n <= shortPiece {
		return mergeShort(piece, ranks)
	}
	m := merger{piece: piece, ranks: ranks, next: make([]int32, n+1), prev: make([]int32, n+1), born: make([]int32, n)}
	for i := range n {
		m.next[i], m.prev[i] = int32(i+1), int32(i-1)
	}
	m.next[n], m.prev[n] = int32(n), int32(n-1)
	for i := range n - 1 {
		m.push(int32(i))
	}
	heap.Init(&m.pairs)
	left := n
	for m.pairs.Len() > 0 {
		p := heap.Pop(&m.pairs).(pair)
		if m.born[p.at] != p.born {
			continue
		}
		m.join(p.at)
		left--
	}
	return left
}

// shortPiece is the length in bytes up to which looking at every pair again is faster than a heap.
const shortPiece = 64

// mergeShort does the same for a short piece: cuts are where its parts begin, and where it ends.
func mergeShort(piece string, ranks map[string]int) int {
	var room [shortPiece + 1]int
	var rank [shortPiece]int
	cuts := room[:0]
	for i := range len(piece) + 1 {
		cuts = append(cuts, i)
	}
	const none = int(^uint(0) >> 1)
	rankAt := func(i int) int {
		if i+2 < len(cuts) {
			if r, ok := ranks[piece[cuts[i]:cuts[i+2]]]; ok {
				return r
			}
		}
		return none
	}
	for i := range len(cuts) - 1 {
		rank[i] = rankAt(i)
	}
	for len(cuts) > 2 {
		best := 0
		for i := 1; i < len(cuts)-2; i++ {
			if rank[i] < rank[best] {
				best = i
			}
		}
		if rank[best] == none {
			break
		}
		copy(rank[best+1:], rank[best+2:len(cuts)-1])
		cuts = append(cuts[:best+1], cuts[best+2:]...)
		rank[best] = rankAt(best)
		if best > 0 {
			rank[best-1] = rankAt(best - 1)
		}
	}
	return len(cuts) - 1
}

// pair is a part and the one after it, which together are a token of the given rank. It is stale once born differs
// from the part's.
type pair struct{ rank, at, born int32 }

// merger is a list of the parts of piece: a part is named by where it begins and reaches to next.
type merger struct {
	piece      string
	ranks      map[string]int
	next, prev []int32
	born       []int32 // counts the changes of a part or its right neighbour; -1 once it was joined to the left
	pairs      pairHeap
}

// push adds the pair that begins at i, if it is a token, without keeping the heap's order.
func (m *merger) push(i int32) bool {
	mid := m.next[i]
	if int(mid) >= len(m.piece) {
		return false
	}
	rank, ok := m.ranks[m.piece[i:m.next[mid]]]
	if !ok {
		return false
	}
	m.pairs = append(m.pairs, pair{int32(rank), i, m.born[i]})
	return true
}

func (m *merger) join(i int32) {
	mid := m.next[i]
	end := m.next[mid]
	m.next[i] = end
	m.prev[end] = i
	m.born[mid] = -1
	for _, at := range [...]int32{m.prev[i], i} {
		if at < 0 {
			continue
		}
		m.born[at]++
		if m.push(at) {
			heap.Fix(&m.pairs, len(m.pairs)-1)
		}
	}
}

type pairHeap []pair

func (h pairHeap) Len() int { return len(h) }
func (h pairHeap) Less(i, j int) bool {
	return h[i].rank < h[j].rank || h[i].rank == h[j].rank && h[i].at < h[j].at
}
func (h pairHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *pairHeap) Push(x any)   { *h = append(*h, x.(pair)) }
func (h *pairHeap) Pop() any {
	old := *h
	p := old[len(old)-1]
	*h = old[:len(old)-1]
	return p
}
