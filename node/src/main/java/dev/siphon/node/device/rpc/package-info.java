/// How the kubelet is asked for the devices of pods.
@NullMarked
package dev.siphon.node.device.rpc;

import org.jspecify.annotations.NullMarked;
