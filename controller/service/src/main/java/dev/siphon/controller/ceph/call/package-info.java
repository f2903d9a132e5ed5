/// Calls Ceph's native libraries, with their own threads, deadlines, errors and metrics.
@NullMarked
package dev.siphon.controller.ceph.call;

import org.jspecify.annotations.NullMarked;
