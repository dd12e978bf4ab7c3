package notices

import (
	"pawl/kernel"
	"pawl/kernel/effect"
)

// Commands of those who tell people.
type (
	// Tell commits messages, each through a channel of its own, about one thing that waits for a person or happened.
	// What does not wait any more is not told of, and no channel is told of a thing twice.
	Tell struct {
		About    About
		Messages []Message
	}
	// Message is one of them.
	Message struct {
		Spec effect.NoticeSpec
		// Repeatable says that the receiver tells repetitions from new messages by their id, so that it may be sent
		// again where it is not known whether it arrived.
		Repeatable bool
		// Hold is for how many milliseconds it is held back at first, because a person may see by themselves what it
		// says.
		Hold int64
	}
	// Begin takes a message to send it. It is the commit that must precede that. One whose question was answered is
	// canceled instead, and the answer is null then.
	Begin struct{ Notice, Owner string }
	// Report says what came of it, under the token that Begin gave. After says for how many milliseconds the receiver
	// wants to be left alone.
	Report struct {
		Notice  string
		Token   int64
		Receipt effect.Receipt
		After   int64 `json:",omitempty"`
	}
	// Recover settles a message that was being sent when its process died.
	Recover struct{ Notice string }
	// Settle looks whether what a message is about still waits. Where it does not, what was not sent is canceled, and
	// what was is to be withdrawn where the channel can.
	Settle struct{ Notice string }
	// Withdrawn says what came of that.
	Withdrawn struct {
		Notice  string
		Receipt effect.Receipt
	}
)

// What these commands are decided on is small, and as little a run's as the board is: it is what they read themselves.
func (*Tell) OfBoard()      {}
func (*Begin) OfBoard()     {}
func (*Report) OfBoard()    {}
func (*Recover) OfBoard()   {}
func (*Settle) OfBoard()    {}
func (*Withdrawn) OfBoard() {}

// Read reads what it is about, and what was told of that before.
func (c *Tell) Read(r *kernel.Reads, s *kernel.Snapshot) error {
	c.About.read(r, s)
	for i := range c.Messages {
		if e := kernel.One[kernel.EffectDoc](r, kernel.ByLabel(kernel.KindNotice,
			c.About.label(c.Messages[i].Spec.Channel))); e != nil {
			s.Within = append(s.Within, e)
		}
	}
	return nil
}

func (c *Begin) Read(r *kernel.Reads, s *kernel.Snapshot) error {
	return readNotice(r, s, c.Notice, true)
}
func (c *Report) Read(r *kernel.Reads, s *kernel.Snapshot) error {
	return readNotice(r, s, c.Notice, false)
}
func (c *Recover) Read(r *kernel.Reads, s *kernel.Snapshot) error {
	return readNotice(r, s, c.Notice, false)
}
func (c *Settle) Read(r *kernel.Reads, s *kernel.Snapshot) error {
	return readNotice(r, s, c.Notice, true)
}
func (c *Withdrawn) Read(r *kernel.Reads, s *kernel.Snapshot) error {
	return readNotice(r, s, c.Notice, false)
}

// readNotice reads a message, and what it is about where that is asked for.
func readNotice(r *kernel.Reads, s *kernel.Snapshot, id string, about bool) error {
	s.Effect = kernel.One[kernel.EffectDoc](r, kernel.ByID(kernel.KindNotice, id))
	if s.Effect == nil || !about {
		return nil
	}
	spec, err := effect.Decode[effect.NoticeSpec](s.Effect.Effect.Spec)
	if err == nil {
		ParseAbout(spec.About).read(r, s)
	}
	return err
}
