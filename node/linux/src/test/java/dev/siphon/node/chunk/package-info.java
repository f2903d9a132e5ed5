@NullMarked
package dev.siphon.node.chunk;

import org.jspecify.annotations.NullMarked;
