package workflow

// ResetSteps is the reset protocol in the seed's order.
func ResetSteps() []ResetStep { return resetSteps }
