package task

// VerificationGates are the gates that a task may name (docs/spec/task.md#gates).
func VerificationGates() []string { return []string{"doctor", "smoke", "tests"} }
