module arenakit

go 1.24
