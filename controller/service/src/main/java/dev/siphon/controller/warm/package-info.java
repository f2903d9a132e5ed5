/// Fills datasets onto nodes' disks before pods start there: for pods that wait at the gate, and for
/// administrators' warmups. All state is in Kubernetes objects, so the next leader can continue.
@NullMarked
package dev.siphon.controller.warm;

import org.jspecify.annotations.NullMarked;
