@NullMarked
package dev.siphon.node.device;

import org.jspecify.annotations.NullMarked;
