package notices

import (
	"slices"
	"strings"
	"time"

	"pawl"
	"pawl/kernel/effect"
)

// Rule says what a channel is told of: things of some topics, of a risk or more, that have waited so long.
type Rule struct {
	Topics []effect.Topic
	Risk   pawl.Risk
	After  time.Duration
}

// The kinds of channel by which messages go.
const (
	Desktop = "desktop"
	Email   = "email"
	Ntfy    = "ntfy"
	Slack   = "slack"
	Webhook = "webhook"
)

// Kinds lists the kinds of channel.
func Kinds() []string { return []string{Desktop, Email, Ntfy, Slack, Webhook} }

// Topics are those that rules may name.
func Topics() []effect.Topic {
	return []effect.Topic{effect.TopicApproval, effect.TopicQuestion, effect.TopicBlocked, effect.TopicBudget,
		effect.TopicLanded, effect.TopicFailed}
}

// Usual are the rules of a channel that names none: what waits for a person, and work that failed.
func Usual() []Rule {
	return []Rule{{Topics: []effect.Topic{effect.TopicApproval, effect.TopicQuestion, effect.TopicBlocked,
		effect.TopicBudget, effect.TopicFailed}, Risk: pawl.RiskLow}}
}

// ParseRule reads a rule: topics, or "*" for all of them, then risk=low|medium|high and after=DURATION as wanted, such
// as "approval question risk=medium after=10m". What is no rule is CodeInvalid.
func ParseRule(text string) (Rule, error) {
	r := Rule{Risk: pawl.RiskLow}
	ok := true
	for _, word := range strings.Fields(text) {
		name, value, set := strings.Cut(word, "=")
		switch {
		case set && name == "risk":
			r.Risk = pawl.Risk(value)
			ok = ok && r.Risk.Valid()
		case set && name == "after":
			d, err := time.ParseDuration(value)
			r.After, ok = d, ok && err == nil && d >= 0 && d <= Patience
		case word == "*":
			r.Topics = Topics()
		default:
			r.Topics = append(r.Topics, effect.Topic(word))
			ok = ok && slices.Contains(Topics(), effect.Topic(word))
		}
	}
	if !ok || len(r.Topics) == 0 {
		return Rule{}, pawl.Fail(pawl.CodeInvalid, "notify.rule", text)
	}
	return r, nil
}

// Tells reports whether something is told of by the rule at an instant; otherwise when it will be, zero for never.
func (r Rule) Tells(topic effect.Topic, risk pawl.Risk, since, now time.Time) (bool, time.Time) {
	if !slices.Contains(r.Topics, topic) || !risk.AtLeast(r.Risk) {
		return false, time.Time{}
	}
	if due := since.Add(r.After); topic.Waits() && due.After(now) {
		return false, due
	}
	return true, time.Time{}
}
