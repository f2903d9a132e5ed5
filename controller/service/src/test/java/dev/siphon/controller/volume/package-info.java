/// Tests of the domain over a Ceph in memory, and the contracts of its ports.
@NullMarked
package dev.siphon.controller.volume;

import org.jspecify.annotations.NullMarked;
