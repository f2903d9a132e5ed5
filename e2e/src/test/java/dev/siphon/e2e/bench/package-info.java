/// The benchmarks behind `make bench`, `make scale` and `make waves`.
@NullMarked
package dev.siphon.e2e.bench;

import org.jspecify.annotations.NullMarked;
