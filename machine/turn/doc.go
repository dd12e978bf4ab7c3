// Package turn is one attempt at a task, or at planning (docs/spec/turn.md): from the user's message over context,
// plan, steps, verification and recovery to the summary. The seed prints most moves without the event that causes them;
// those events are named here, and rows and events that the product had to name say so.
//
// Steps loop inside EXECUTING, and VERIFYING follows the last one (docs/spec/turn.md#b5). A re-plan is a plan patch
// made in RECOVERING (docs/spec/turn.md#b6). Whatever ends a turn ends it in SUMMARIZING, so that every turn has a
// summary (docs/spec/turn.md#b2).
package turn
