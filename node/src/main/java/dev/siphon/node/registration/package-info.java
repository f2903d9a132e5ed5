/// How the kubelet of this node comes to know the driver.
@NullMarked
package dev.siphon.node.registration;

import org.jspecify.annotations.NullMarked;
