/// Turns snapshots into sealed datasets: a packer makes an image of each, and then it is declared for its account.
/// Ceph and the Kubernetes cluster hold all progress, so that every step can be interrupted and repeated.
@NullMarked
package dev.siphon.controller.seal;

import org.jspecify.annotations.NullMarked;
