/// The processes of FUSE mounts, ceph-fuse and erofsfuse: run by the node itself, or by a supervisor that outlives
/// it (docs/adr/0038).
@NullMarked
package dev.siphon.node.fuse;

import org.jspecify.annotations.NullMarked;
