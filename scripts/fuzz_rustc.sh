#!/usr/bin/env bash
# The compiler as cargo is to call it for the fuzz targets: our own crate is instrumented for coverage (LLVM's
# SanitizerCoverage), its dependencies are those of the release build.
for word in "$@"; do
    [ "$word" != engram ] || exec "$@" --cfg fuzzing -Cpasses=sancov-module \
        -Cllvm-args=-sanitizer-coverage-level=4 -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
        -Cllvm-args=-sanitizer-coverage-pc-table -Cllvm-args=-sanitizer-coverage-trace-compares
done
exec "$@"
