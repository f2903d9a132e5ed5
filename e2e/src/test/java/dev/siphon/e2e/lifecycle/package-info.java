/// Volumes from creation to deletion, with real data through both sockets.
@NullMarked
package dev.siphon.e2e.lifecycle;

import org.jspecify.annotations.NullMarked;
