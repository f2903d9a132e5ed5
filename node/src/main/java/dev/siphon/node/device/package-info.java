/// Which devices a pod holds, and what is near them.
@NullMarked
package dev.siphon.node.device;

import org.jspecify.annotations.NullMarked;
