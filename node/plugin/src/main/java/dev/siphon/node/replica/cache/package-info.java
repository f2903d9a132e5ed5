/// Replicas of datasets on this node's disks: listing, filling, verifying and evicting them. This package knows no
/// devices or mounts.
@NullMarked
package dev.siphon.node.replica.cache;

import org.jspecify.annotations.NullMarked;
