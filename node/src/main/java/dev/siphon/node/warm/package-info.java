/// Replicas that the controller wants on this node before any pod is there, and what it is told of them.
@NullMarked
package dev.siphon.node.warm;

import org.jspecify.annotations.NullMarked;
