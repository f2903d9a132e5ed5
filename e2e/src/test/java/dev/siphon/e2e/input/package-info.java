/// Malformed and hostile input over the real sockets.
@NullMarked
package dev.siphon.e2e.input;

import org.jspecify.annotations.NullMarked;
