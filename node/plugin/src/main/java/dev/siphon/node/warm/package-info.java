/// Replicas that the controller orders for this node before any pod uses them, and the reports about them.
@NullMarked
package dev.siphon.node.warm;

import org.jspecify.annotations.NullMarked;
