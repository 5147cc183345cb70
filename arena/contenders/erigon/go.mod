module arena-erigon

go 1.25

require (
	arenakit v0.0.0
	github.com/erigontech/erigon v0.0.0
)

replace arenakit => ../../kit/go
