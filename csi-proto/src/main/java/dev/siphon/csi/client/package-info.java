/// The other end of a CSI socket, for the debug client, the tests and the benchmark.
@NullMarked
package dev.siphon.csi.client;

import org.jspecify.annotations.NullMarked;
