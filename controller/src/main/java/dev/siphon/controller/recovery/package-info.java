/// What only Kubernetes knows of volumes, snapshots and datasets, kept in Ceph beside them; and the objects of a
/// Kubernetes that was lost, made anew from there.
@NullMarked
package dev.siphon.controller.recovery;

import org.jspecify.annotations.NullMarked;
