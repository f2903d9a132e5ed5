/// Linux as the node sees it: the mount table, and the system calls that neither the JDK nor jnr-posix has. A
/// call that may hang is not made safe here; that is what [dev.siphon.node.mount.BlockingCalls] is for.
///
/// Needs Linux 5.12 (`mount_setattr`), on x86-64 or arm64.
@NullMarked
package dev.siphon.node.linux;

import org.jspecify.annotations.NullMarked;
