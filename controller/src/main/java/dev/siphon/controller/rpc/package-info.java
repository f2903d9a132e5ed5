/// Converts CSI requests to the domain and its results back; no other package uses protobuf.
@NullMarked
package dev.siphon.controller.rpc;

import org.jspecify.annotations.NullMarked;
