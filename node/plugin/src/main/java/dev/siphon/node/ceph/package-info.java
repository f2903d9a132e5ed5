/// The CephFS clients that a node can mount with: the kernel client and ceph-fuse.
@NullMarked
package dev.siphon.node.ceph;

import org.jspecify.annotations.NullMarked;
