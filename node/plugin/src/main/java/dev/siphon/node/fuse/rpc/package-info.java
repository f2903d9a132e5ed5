/// Server and client of `fuse.proto`: what `siphon fuse` serves and the node calls.
@NullMarked
package dev.siphon.node.fuse.rpc;

import org.jspecify.annotations.NullMarked;
