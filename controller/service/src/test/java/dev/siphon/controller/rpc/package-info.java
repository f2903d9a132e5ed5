/// Tests of the CSI services from a caller's view: over a unix socket, on a Ceph in memory.
@NullMarked
package dev.siphon.controller.rpc;

import org.jspecify.annotations.NullMarked;
