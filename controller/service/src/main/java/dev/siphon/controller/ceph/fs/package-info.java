/// Gives the controller access to files through libcephfs, without a kernel mount.
@NullMarked
package dev.siphon.controller.ceph.fs;

import org.jspecify.annotations.NullMarked;
