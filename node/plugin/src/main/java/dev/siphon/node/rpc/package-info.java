/// Translates the RPCs of the node's services to the domain and back; nothing else knows protobuf.
@NullMarked
package dev.siphon.node.rpc;

import org.jspecify.annotations.NullMarked;
