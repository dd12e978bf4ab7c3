package forge

// Kind is a kind of forge.
type Kind string

// The kinds.
const (
	GitHub Kind = "github"
	GitLab Kind = "gitlab"
	Gitea  Kind = "gitea"
)

// scheme is the word in front of a token, in the header Authorization.
func (k Kind) scheme() string {
	if k == Gitea {
		return "token"
	}
	return "Bearer"
}
