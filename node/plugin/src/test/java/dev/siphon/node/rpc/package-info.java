/// Tests of this package.
@NullMarked
package dev.siphon.node.rpc;

import org.jspecify.annotations.NullMarked;
