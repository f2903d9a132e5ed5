/// The devices that pods hold, and the cache directories near them.
@NullMarked
package dev.siphon.node.device;

import org.jspecify.annotations.NullMarked;
