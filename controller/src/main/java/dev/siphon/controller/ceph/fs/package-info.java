/// The controller's own access to files, through libcephfs and without a mount.
@NullMarked
package dev.siphon.controller.ceph.fs;

import org.jspecify.annotations.NullMarked;
