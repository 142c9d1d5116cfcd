package sqlitestore

import (
	"context"
	"database/sql"
	"strings"
	"testing"

	"evoke/store"
)

// TestPlans: the listings that the write path and the pages ask for are answered from an index, not from all items.
func TestPlans(t *testing.T) {
	ctx := context.Background()
	db := openT(t, Memory, nil)
	if err := db.Apply(ctx, benchScope, store.Change{Put: benchItems(3)}); err != nil {
		t.Fatal(err)
	}
	plan := func(query string, args ...any) string {
		var steps []string
		err := db.reading(func(r *sql.DB) error {
			rows, err := r.QueryContext(ctx, "EXPLAIN QUERY PLAN "+query, args...)
			if err != nil {
				return err
			}
			defer rows.Close()
			for rows.Next() {
				var a, b, c int
				var step string
				if err := rows.Scan(&a, &b, &c, &step); err != nil {
					return err
				}
				steps = append(steps, step)
			}
			return rows.Err()
		})
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join(steps, "; ")
	}
	for _, c := range []struct {
		name  string
		f     store.Filter
		o     store.Order
		index string
	}{
		{"newest", store.Filter{}, store.Newest, "items_by_recorded"},
		{"oldest", store.Filter{}, store.Oldest, "items_by_recorded"},
		{"newest event", store.Filter{}, store.NewestEvent, "items_by_event"},
		{"most important", store.Filter{}, store.MostImportant, "items_by_importance"},
		{"duplicates of a statement", store.Filter{ContentKeys: []string{"a", "b"}}, store.Newest, "items_by_key"},
		{"a session", store.Filter{Sessions: []string{"s"}}, store.NewestEvent, "items_by_turn"},
		{"turns before one", store.Filter{Sessions: []string{"s"}, Positions: store.PositionRange{From: 3, To: 5}}, store.ByID, "items_by_turn"},
		{"what was distilled", store.Filter{Distilled: true, Kinds: []store.Kind{store.Semantic, store.Procedural}}, store.ByID, "items_distilled"},
		{"the latest turns of a thread", store.Filter{Kinds: []store.Kind{store.Episodic}, Threads: []string{"t"}, Roles: []string{"user"}}, store.Newest, "items_by_thread"},
		{"ids", store.Filter{IDs: []string{"a"}}, store.ByID, "sqlite_autoindex_items"},
	} {
		var w where
		w.and("scope = ?", 1)
		w.view(store.Current(store.Item{}.RecordedAt))
		w.filter(&c.f)
		order := w.page(c.o, nil, &c.f)
		got := plan("SELECT "+itemColumns+" FROM items WHERE "+w.text()+" ORDER BY "+order, w.args...)
		if !strings.Contains(got, c.index) {
			t.Errorf("%s: %s, want %s", c.name, got, c.index)
		}
	}
	// Counts go over all items, but over the indexes alone.
	var counted where
	counted.and(ofTenant, "acme")
	counted.view(store.Current(store.Item{}.RecordedAt))
	census, censusArgs := censusQuery("acme", &store.CensusQuery{View: store.Current(store.Item{}.RecordedAt), Users: 5})
	for _, c := range []struct {
		name, query string
		args        []any
		index       string
	}{
		{"census", census, censusArgs, "items_census"},
		{"all versions", allQuery, []any{"acme"}, "items_census"},
		{"vectors", vectorsQuery + counted.text(), counted.args, "vectors_by_item"},
	} {
		if got := plan(c.query, c.args...); !strings.Contains(got, c.index) || strings.Contains(got, "SCAN i") || strings.Contains(got, "SEARCH v USING PRIMARY KEY") {
			t.Errorf("%s: %s, want %s", c.name, got, c.index)
		}
	}
	if !strings.Contains(isTask, `"durability":"`+store.TaskDurability+`"`) {
		t.Errorf("%s, and tasks are called %s", isTask, store.TaskDurability)
	}
	for name, query := range map[string]string{"items": loadItemsQuery, "vectors": loadVectorsQuery} {
		if got := plan(query, 1); !strings.Contains(got, "items_by_recorded") || strings.Contains(got, "ORDER BY") {
			t.Errorf("loading %s: %s", name, got)
		}
	}
	for _, c := range []struct {
		name, query string
		args        []any
	}{
		{"tenants with due jobs", dueTenantsQuery, []any{"[]", "[]", 1, 4}},
		{"due jobs", dueJobsQuery, []any{"acme", "[]", 1, 4}},
		{"next due", nextDueQuery, []any{"[]", "[]"}},
	} {
		got := plan(c.query, c.args...)
		for _, step := range strings.Split(got, "; ") {
			if strings.HasPrefix(step, "SCAN j") && !strings.Contains(step, "SCAN json_each") && !strings.Contains(step, "jobs_leased") {
				t.Errorf("%s reads all jobs: %s", c.name, got)
			}
		}
		if !strings.Contains(got, "jobs_by_tenant") {
			t.Errorf("%s: %s", c.name, got)
		}
	}
}
