package store

import "slices"

// TaskDurability is the Provenance.Durability of what holds for one task only: for the thread that it was said in, until
// ValidTo.
const TaskDurability = "task"

// OfTask reports whether the item holds for one task only. Views show it to calls that name its thread and to no others;
// without an end it would never go, so that it is taken as what holds on.
func (it *Item) OfTask() bool {
	return it.Provenance.Durability == TaskDurability && !it.ValidTo.IsZero()
}

// NamedThreads returns the threads that a filter asks for: a call that names a thread is to see what holds for its task.
func (f *Filter) NamedThreads() []string {
	if f == nil {
		return nil
	}
	named := slices.Clone(f.Threads)
	for i := range f.All {
		named = append(named, f.All[i].NamedThreads()...)
	}
	return named
}
