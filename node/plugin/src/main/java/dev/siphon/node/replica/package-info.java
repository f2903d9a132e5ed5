/// The datasets of this node. Each has one common read-only tree, over the image on CephFS at once, and later over
/// a replica on a disk of the node. Trees are switched under their readers.
///
/// Disks and kernel hold all lasting state, see [dev.siphon.node.replica.ImageMounts]. Reads never pass through the
/// driver.
@NullMarked
package dev.siphon.node.replica;

import org.jspecify.annotations.NullMarked;
