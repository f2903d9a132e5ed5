/// Tests of the domain over a Ceph in memory, and what every Ceph must do for it.
@NullMarked
package dev.siphon.controller.volume;

import org.jspecify.annotations.NullMarked;
