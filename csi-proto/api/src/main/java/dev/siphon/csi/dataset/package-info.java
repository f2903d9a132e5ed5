/// The contract of packer, controller and nodes about datasets: declarations, manifests, and the objects and names
/// by which they agree on access and replicas.
@NullMarked
package dev.siphon.csi.dataset;

import org.jspecify.annotations.NullMarked;
