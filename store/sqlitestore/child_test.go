package sqlitestore

const roleEnv = "EVOKE_TEST_ROLE"

func child(string) int { return 2 }
