@NullMarked
package dev.siphon.node.kubernetes;

import org.jspecify.annotations.NullMarked;
