/// Datasets for which the node asks the controller: those that pods name themselves, as CSI ephemeral inline
/// volumes (without a claim or a PersistentVolume), and those of claims whose Secret has no key.
@NullMarked
package dev.siphon.node.inline;

import org.jspecify.annotations.NullMarked;
