/// Snapshots that become sealed datasets: a packer process makes an image of each, and then it is declared for its
/// account. How far that is lies with Ceph and the cluster alone, so that every step may be repeated, and cut off.
@NullMarked
package dev.siphon.controller.seal;

import org.jspecify.annotations.NullMarked;
