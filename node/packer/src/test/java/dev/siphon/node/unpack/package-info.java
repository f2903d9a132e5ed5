@NullMarked
package dev.siphon.node.unpack;

import org.jspecify.annotations.NullMarked;
