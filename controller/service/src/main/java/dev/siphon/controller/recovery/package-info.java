/// Records in Ceph what only Kubernetes knows of volumes, snapshots and datasets, and rebuilds the objects of a
/// lost Kubernetes from these records.
@NullMarked
package dev.siphon.controller.recovery;

import org.jspecify.annotations.NullMarked;
