/// CSI requests to the domain and back; nothing else knows protobuf.
@NullMarked
package dev.siphon.controller.rpc;

import org.jspecify.annotations.NullMarked;
