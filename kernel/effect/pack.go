package effect

// ContextPack is what an agent is told about the workspace, within a token budget (docs/spec/turn.md#context-pack).
type ContextPack struct {
	WorkspaceSummary string        `json:"workspace_summary"`
	Constraints      []string      `json:"constraints"`
	Hits             []Hit         `json:"retrieval_hits"`
	Snippets         []CodeSnippet `json:"code_snippets"`
	RecentActions    []ToolResult  `json:"recent_actions"`
	Budget           TokenBudget   `json:"token_budget"`
	// Lexical is what searched for words, LexicalScan. It is "" where the pack was not built.
	Lexical string `json:"lexical_search,omitempty"`
	// Degraded names what could not be used, as catalogue keys.
	Degraded []string `json:"degraded,omitempty"`
}

// LexicalScan is a search through the files. Older packs say "index", which was an index of words.
const LexicalScan = "scan"

// PackNote is what the evidence keeps of a pack.
type PackNote struct {
	Used     int    `json:"used"`
	Total    int    `json:"total"`
	Hits     int    `json:"hits"`
	Snippets int    `json:"snippets"`
	Lexical  string `json:"lexical_search,omitempty"`
	// Degraded names what could not be used, as catalogue keys.
	Degraded []string `json:"degraded,omitempty"`
}

// Note returns what the evidence keeps of the pack.
func (p ContextPack) Note() PackNote {
	return PackNote{Used: p.Budget.Used, Total: p.Budget.Total, Hits: len(p.Hits), Snippets: len(p.Snippets),
		Lexical: p.Lexical, Degraded: p.Degraded}
}

// Hit is one place that may matter. Source is grep, semantic, symbol or manual; Lines is "12-40" or "".
type Hit struct {
	Source  string  `json:"source"`
	Path    string  `json:"path"`
	Score   float64 `json:"score"`
	Summary string  `json:"summary"`
	Lines   string  `json:"lines"`
}

// CodeSnippet is a part of a file. Lines count from 1, both ends included.
type CodeSnippet struct {
	Path      string `json:"path"`
	StartLine int    `json:"start_line"`
	EndLine   int    `json:"end_line"`
	Content   string `json:"content"`
}

// TokenBudget is what the pack may cost and does cost, in estimated tokens.
type TokenBudget struct {
	Total  int        `json:"total_estimate"`
	Used   int        `json:"used_estimate"`
	Limits PackLimits `json:"limits"`
}

// PackLimits bound single parts of a pack.
type PackLimits struct {
	MaxSnippets        int `json:"max_snippets"`
	MaxLinesPerSnippet int `json:"max_lines_per_snippet"`
}
