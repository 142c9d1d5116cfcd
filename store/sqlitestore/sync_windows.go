//go:build windows

package sqlitestore

// syncDir has nothing to do: NTFS logs renames, and directories cannot be synced.
func syncDir(string) error { return nil }
