# Runs the program of a package's tests so that it leaves a log when it comes to its end. A program that ends itself before
# leaves none, whatever it has printed. The folder that it ran in is told beside it.
program=$1
shift
log=${0%/*}/$$
pwd -P >"$log.dir"
exec "$program" -test.testlogfile="$log.log" "$@"
