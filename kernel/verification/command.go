package verification

import "pawl/kernel"

// Accept takes the work of a task that nothing shows to have done what was wanted. It is a person's, who gives a
// reason, and it is bound to the tree that was shown.
type Accept struct {
	// Tree is the tree of the proof, or the beginning of its id; Reason is never empty.
	Tree   string
	Reason string
	// Way is how the person said so.
	Way kernel.Way `json:",omitempty"`
}

// TakesFlowOn says that the flow goes on with it.
func (*Accept) TakesFlowOn(*kernel.Tx) bool { return true }
