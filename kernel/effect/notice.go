package effect

import "time"

// KindNotice is the kind of a message to a person beside the work (kernel/notices): NoticeSpec → NoticeResult.
const KindNotice Kind = "notice.send"

// Topic says what a message is about. Topics are append-only.
type Topic string

// The topics: a decision, an answer or help that is waited for, work that landed, ended otherwise or spent what it may,
// and a message that was asked for to see whether it arrives.
const (
	TopicApproval Topic = "approval"
	TopicQuestion Topic = "question"
	TopicBlocked  Topic = "blocked"
	TopicBudget   Topic = "budget"
	TopicLanded   Topic = "landed"
	TopicFailed   Topic = "failed"
	TopicTest     Topic = "test"
)

// Waits reports whether somebody waits for a person, so that the message is for nothing once that is over.
func (t Topic) Waits() bool {
	switch t {
	case TopicApproval, TopicQuestion, TopicBlocked, TopicBudget:
		return true
	}
	return false
}

// NoticeSpec is a message through one channel.
type NoticeSpec struct {
	Channel string `json:"channel"`
	// About is what waits or happened, in the form of kernel/notices.
	About string `json:"about"`
	Topic Topic  `json:"topic"`
	// Risk is that of what is asked for: low, medium or high.
	Risk string `json:"risk"`
	// Name is what people call what it is about: RUN-3, ISS-20260102-001, q-1.
	Name  string `json:"name"`
	Title string `json:"title"`
	Body  string `json:"body"`
	// Link leads to a page, where one is served, and Command is what a person runs.
	Link    string    `json:"link,omitempty"`
	Command string    `json:"command,omitempty"`
	At      time.Time `json:"at"`
	// Until is when it is given up. Withdraws says that the channel can take it back.
	Until     time.Time `json:"until"`
	Withdraws bool      `json:"withdraws,omitempty"`
}

// NoticeResult says how the receiver calls the message, where it does.
type NoticeResult struct {
	Handle string `json:"handle,omitempty"`
}
