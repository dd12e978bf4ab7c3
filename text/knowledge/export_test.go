package knowledge

// RowsFor counts the rows of the decision table that fit a question.
func RowsFor(q Question) int {
	n := 0
	for _, r := range decisions {
		if r.fits(q) {
			n++
		}
	}
	return n
}

// Normal returns the module as a document gives it back.
func (m Module) Normal() Module { return m.normal() }

// CommitTypes returns the types in the order in which a person is offered them.
func CommitTypes() (out []CommitType) {
	for _, t := range commitTypes {
		out = append(out, t.Type)
	}
	return out
}
