/// Datasets on this node: one read-only tree per dataset, over the image on CephFS at once and over a replica on a
/// disk of the node when there is one. What is behind the tree changes under its readers.
///
/// There is no state but the disk's and the kernel's, see [dev.siphon.node.replica.Attachments]; and nothing of the
/// driver is in the way of a read.
@NullMarked
package dev.siphon.node.replica;

import org.jspecify.annotations.NullMarked;
