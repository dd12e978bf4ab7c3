package tui

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
)

// scene is what a person looks at and what keys do to it: pure, so that every key can be tried.
type scene interface {
	press(k key) act
	// shape draws it for a terminal of so many columns and rows.
	shape(w, h int) frame
	// close takes away what is not to stay on the terminal when nothing can be done any more.
	close()
}

// frame is what a scene looks like: rows below each other, and how the row with the cursor looks up to the cursor. A
// frame that is full has the terminal for itself and shows no cursor.
type frame struct {
	rows []string
	row  int
	upTo string
	full bool
}

// program is a scene at work. The library sends it no keys: they are read by the screen, one at a time, and the next
// one is read only when it is known what the last one did.
type program struct {
	*tea.Program
	model *model
	ended chan struct{}
	err   error // once it has ended
}

// model is the library's view of a scene. All but acts belongs to the program's own goroutine.
type model struct {
	screen *Screen
	scene  scene
	w, h   int
	over   bool
	acts   chan act
}

// The messages of a program, beside functions, which are carried out.
type (
	keyMsg  key
	overMsg struct{}
)

// framesPerSecond is how often is looked for something to draw; a person waits for a key at most that long.
const framesPerSecond = 120

func (s *Screen) begin(sc scene) *program {
	w, h := s.tty.size()
	m := &model{screen: s, scene: sc, w: w, h: h, acts: make(chan act)}
	p := &program{model: m, ended: make(chan struct{}), Program: tea.NewProgram(m,
		tea.WithInput(nil), tea.WithOutput(paper{s.tty.out}), tea.WithWindowSize(w,
			h), tea.WithEnvironment([]string{"TERM=" + s.Env("TERM")}),
		tea.WithColorProfile(colorprofile.TrueColor), tea.WithFPS(framesPerSecond), tea.WithoutSignalHandler(),
		tea.WithFilter(func(_ tea.Model, msg tea.Msg) tea.Msg {
			// The library must not draw for another size before it is known where that size has left the cursor.
			if size, ok := msg.(tea.WindowSizeMsg); ok {
				m.refit(size.Width)
			}
			return msg
		}))}
	s.mu.Lock()
	s.wipe()
	s.drawing, s.held = p.Program, ""
	s.mu.Unlock()
	go func() {
		_, p.err = p.Run()
		close(p.ended)
	}()
	if s.Style.Unicode {
		// Characters are measured as a person sees them, and the terminal is told so. It is not asked whether it can:
		// its answer would be read by whoever reads next.
		p.Send(tea.ModeReportMsg{Mode: ansi.ModeUnicodeCore, Value: ansi.ModeReset})
	}
	return p
}

// end lets the program leave its last frame, and what was written meanwhile.
func (s *Screen) end(p *program) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	p.Send(overMsg{})
	<-p.ended
	s.drawing = nil
	if s.held != "" {
		s.put(s.held)
		s.partial, s.held = true, ""
	}
	s.draw()
	return p.err
}

// press does what a key means.
func (p *program) press(k key) act {
	p.Send(keyMsg(k))
	select {
	case a := <-p.model.acts:
		return a
	case <-p.ended:
		return leave
	}
}

func (m *model) Init() tea.Cmd { return nil }

func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case keyMsg:
		if a := m.scene.press(key(msg)); a != wipe {
			m.acts <- a
			return m, nil
		}
		m.acts <- nothing
		return m, tea.ClearScreen
	case func():
		msg()
	case tea.WindowSizeMsg:
		m.w, m.h = msg.Width, msg.Height
	case overMsg:
		m.over = true
		m.scene.close()
		return m, tea.Quit
	}
	return m, nil
}

// refit tells the terminal, which has another width, where the cursor is taken to be: the rows above it were broken
// anew.
func (m *model) refit(width int) {
	f := m.scene.shape(m.w, m.h)
	if f.full || width <= 0 || f.row >= len(f.rows) {
		return
	}
	more := max(0, ansi.StringWidth(f.upTo)-1) / width
	for _, r := range f.rows[:f.row] {
		more += max(0, ansi.StringWidth(r)-1) / width
	}
	if more > 0 {
		_, _ = m.screen.tty.out.WriteString(ansi.CursorUp(more))
	}
}

func (m *model) View() tea.View {
	f := m.scene.shape(m.w, m.h)
	v := tea.View{AltScreen: f.full}
	rows := slices.Clone(f.rows)
	if !f.full {
		v.Cursor = tea.NewCursor(ansi.StringWidth(f.upTo), f.row)
	}
	if m.over && !f.full {
		// What stands in the last row is erased when the program ends.
		rows = append(rows, "")
		v.Cursor = tea.NewCursor(0, len(rows)-1)
	}
	v.SetContent(strings.Join(rows, "\n"))
	return v
}
