/// Queries the kubelet for the devices of pods.
@NullMarked
package dev.siphon.node.device.rpc;

import org.jspecify.annotations.NullMarked;
