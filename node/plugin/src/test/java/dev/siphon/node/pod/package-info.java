@NullMarked
package dev.siphon.node.pod;

import org.jspecify.annotations.NullMarked;
