/// Lists the source files that run for an RPC.
@NullMarked
package dev.siphon.e2e.trace;

import org.jspecify.annotations.NullMarked;
