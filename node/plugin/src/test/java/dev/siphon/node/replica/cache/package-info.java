@NullMarked
package dev.siphon.node.replica.cache;

import org.jspecify.annotations.NullMarked;
