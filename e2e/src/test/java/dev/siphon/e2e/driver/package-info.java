/// The driver under test: its processes and its sockets.
@NullMarked
package dev.siphon.e2e.driver;

import org.jspecify.annotations.NullMarked;
