/// Datasets that pods name themselves, as CSI ephemeral inline volumes: without a claim, a PersistentVolume, a
/// NodeStageVolume or a Secret.
@NullMarked
package dev.siphon.node.inline;

import org.jspecify.annotations.NullMarked;
