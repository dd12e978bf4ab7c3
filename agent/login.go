package agent

import "context"

// Login is a person's own login at the makers of a program, of which a piece of work is lent a copy. It is safe for
// concurrent use.
type Login interface {
	// Lend makes sure that the login lasts for the work and lends it. The errors are CodeLogin where there is none that
	// can be used, and CodeBudget where a limit is set that cannot hold with it.
	Lend(ctx context.Context, w Borrower) (Loan, error)
}

// Borrower is the work that a login is lent to.
type Borrower struct {
	Program Program
	// Home is the work's own home, absolute, and Tree the project's files.
	Home, Tree string
	// Model is the model that its user chose for the work, "" for none.
	Model string
}

// Loan is what a piece of work is given of a login. It is the borrower's until Return.
type Loan struct {
	// Program is the borrower's program as it is run with a login, and Model what it is told to use, "" for what it
	// chooses itself.
	Program Program
	Model   string
	// Files are written below the home before the program starts, as they are.
	Files map[string]string
	// Secret is what the program reads from a pipe at descriptor SecretFD, where it takes its token so.
	Secret   []byte
	SecretFD int
	// Provider is the gateway's name for who serves the program then, and Sites the places that it may connect to
	// instead, each as host:port. One of the two is set.
	Provider string
	Sites    []string
	// SignIn is the command with which the person logs in again.
	SignIn string
	// Account says whose login it is, without a secret.
	Account string
	// Readable says that commands which the program starts can read the copy.
	Readable bool
	// Fresh is called when the maker has refused the login. It returns the loan with the login renewed, where that
	// could be done.
	Fresh func(ctx context.Context) (Loan, bool)
	// Hide takes what was lent out of a text.
	Hide func(text string) string
	// Return takes the copy away.
	Return func()
}
