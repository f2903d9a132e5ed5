/// The clients of CephFS that a node can mount with: the kernel's, and ceph-fuse.
@NullMarked
package dev.siphon.node.ceph;

import org.jspecify.annotations.NullMarked;
