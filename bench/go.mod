module pawl/bench

go 1.26.0

require pawl v0.0.0

require (
	github.com/looplab/fsm v1.0.3 // indirect
	github.com/qmuntal/stateless v1.7.2 // indirect
)

replace pawl => ..
