/// Sends commands to mon and mgr daemons through librados.
@NullMarked
package dev.siphon.controller.ceph.rados;

import org.jspecify.annotations.NullMarked;
