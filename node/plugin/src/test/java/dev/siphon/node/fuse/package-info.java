/// Tests of this package.
@NullMarked
package dev.siphon.node.fuse;

import org.jspecify.annotations.NullMarked;
