/// Calls into Ceph's native libraries: threads of their own, deadlines, errors, metrics.
@NullMarked
package dev.siphon.controller.ceph.call;

import org.jspecify.annotations.NullMarked;
