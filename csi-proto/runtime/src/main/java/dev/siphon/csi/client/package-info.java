/// The client of a CSI socket, for the debug command, the tests and the benchmark.
@NullMarked
package dev.siphon.csi.client;

import org.jspecify.annotations.NullMarked;
