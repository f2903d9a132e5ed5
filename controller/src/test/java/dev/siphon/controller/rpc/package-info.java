/// Tests of the CSI services as a caller sees them: over a unix socket, with a Ceph in memory behind.
@NullMarked
package dev.siphon.controller.rpc;

import org.jspecify.annotations.NullMarked;
