/// Linux interfaces of the node: the mount table, and the system calls that neither the JDK nor jnr-posix has.
/// Calls that may hang run through the plugin's `BlockingCalls`, not here.
///
/// Needs Linux 5.12 (`mount_setattr`), on x86-64 or arm64.
@NullMarked
package dev.siphon.node.linux;

import org.jspecify.annotations.NullMarked;
