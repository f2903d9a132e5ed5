/// Kills a controller at a chosen call to Ceph and checks what holds afterwards.
@NullMarked
package dev.siphon.e2e.crash;

import org.jspecify.annotations.NullMarked;
