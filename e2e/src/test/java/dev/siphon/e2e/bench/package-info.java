/// The benchmark behind `make bench`.
@NullMarked
package dev.siphon.e2e.bench;

import org.jspecify.annotations.NullMarked;
