/// CSI Node requests to mounts and back; nothing else knows protobuf.
@NullMarked
package dev.siphon.node.rpc;

import org.jspecify.annotations.NullMarked;
