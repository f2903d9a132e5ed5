/// Registers the driver with the kubelet of this node.
@NullMarked
package dev.siphon.node.registration;

import org.jspecify.annotations.NullMarked;
