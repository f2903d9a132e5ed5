/// Black-box tests over the sockets of a controller and a node, against a real Ceph.
@NullMarked
package dev.siphon.e2e;

import org.jspecify.annotations.NullMarked;
