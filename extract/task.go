package extract

import (
	"fmt"
	"time"

	"evoke/store"
)

// What holds for one task only (DurableTask) goes with the task: it is kept under the thread that it was said in, shown
// to calls that name that thread, and ends ReconcileOptions.TaskTTL after the thread's last turn.

func checkTaskTTL(d time.Duration) error {
	if d < time.Hour || d > 8760*time.Hour {
		return store.Invalid("memory.task_hours", "from 1 to 8760", fmt.Sprint(d.Hours()))
	}
	return nil
}

// taskSubject keeps the subjects of a task apart from those of what holds on: neither closes the other.
func taskSubject(subject string, task bool) string {
	if task && subject != "" {
		return "task:" + subject
	}
	return subject
}

func (op *Operation) key() subjectKey {
	return subjectOf(taskSubject(op.Subject, op.Durability == DurableTask), op.Speaker)
}

func keyOfItem(it *store.Item) subjectKey {
	return subjectOf(taskSubject(it.Provenance.Subject, it.Provenance.Durability == store.TaskDurability), it.Turn.Speaker)
}

// holds reports whether an item is still what it says: one whose end is set, if only in the future, has its successor,
// unless it is the end of its task.
func holds(it *store.Item) bool {
	return !it.Closed() || it.OfTask() && it.RetractedAt.IsZero() && it.SupersededBy == ""
}

// taskEnd is when the tasks of the thread end, by what is known now.
func (r *reconciler) taskEnd() time.Time {
	last := r.last
	if last.IsZero() || last.After(r.now) {
		last = r.now
	}
	return last.Add(r.opts.TaskTTL)
}

// bind gives an item of a task its end.
func (r *reconciler) bind(it *store.Item) {
	it.ValidTo, it.ClosedAt = r.taskEnd(), r.now
	if it.ValidTo.Before(it.ValidFrom) {
		it.ValidTo = it.ValidFrom
	}
}

// prolong moves the end of the tasks that go on.
func (r *reconciler) prolong() {
	for _, it := range r.byID {
		if it.OfTask() && it.Turn.Thread == r.thread && it.ValidTo.Before(r.taskEnd()) {
			it.ValidTo = r.taskEnd()
			r.touch(it)
		}
	}
}
