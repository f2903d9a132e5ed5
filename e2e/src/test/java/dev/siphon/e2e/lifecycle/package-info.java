/// Volumes from their creation to their end, with real data through both sockets.
@NullMarked
package dev.siphon.e2e.lifecycle;

import org.jspecify.annotations.NullMarked;
