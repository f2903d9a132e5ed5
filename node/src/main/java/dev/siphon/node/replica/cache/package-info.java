/// Replicas of datasets on this node's disks: what is there, how one is filled and checked, and which one goes when
/// room is wanted. Nothing here knows of devices or mounts.
@NullMarked
package dev.siphon.node.replica.cache;

import org.jspecify.annotations.NullMarked;
