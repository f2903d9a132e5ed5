/// Converts CSI requests to the domain and its results back; the domain does not use protobuf.
@NullMarked
package dev.siphon.controller.rpc;

import org.jspecify.annotations.NullMarked;
