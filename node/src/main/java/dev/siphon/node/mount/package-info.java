/// Mounts: the kernel's mount table, the ports to mount and unmount, and their adapters.
@NullMarked
package dev.siphon.node.mount;

import org.jspecify.annotations.NullMarked;
