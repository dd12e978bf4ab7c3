// Package tui is the terminal at work: one Screen owns it for as long as a command runs. Lines are printed above a live
// line, questions are asked, the prompt reads a person's lines with editing, history and completion, one of many things
// is picked, and the board shows a backlog live. None of it knows where its data comes from: the caller gives functions
// and values. What a key does and what a frame shows are pure (scene, Board.Frame, Detail.Frame); only Screen, console
// and keyboard touch the machine.
//
// What is drawn is drawn by bubbletea, which is at work only while a person is asked or looks at the board. It is given
// no input: left to itself it reads all that was typed, and what was typed behind the key that ends a program is lost,
// to the next line and to a child that reads the terminal. Keys are read here, one at a time, and decoded by its
// library. It asks the terminal nothing either, because whoever reads next would read the answer.
package tui
