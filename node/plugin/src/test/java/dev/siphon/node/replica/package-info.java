@NullMarked
package dev.siphon.node.replica;

import org.jspecify.annotations.NullMarked;
