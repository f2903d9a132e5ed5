@NullMarked
package dev.siphon.node.device.rpc;

import org.jspecify.annotations.NullMarked;
