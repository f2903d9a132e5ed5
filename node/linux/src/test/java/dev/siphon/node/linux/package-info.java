/// Tests of this package.
@NullMarked
package dev.siphon.node.linux;

import org.jspecify.annotations.NullMarked;
