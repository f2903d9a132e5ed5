/// Mounts, publishes and unmounts volumes, over ports that the clients of CephFS and the datasets implement.
@NullMarked
package dev.siphon.node.mount;

import org.jspecify.annotations.NullMarked;
