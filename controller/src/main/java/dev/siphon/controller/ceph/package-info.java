/// The Ceph adapter: librados and libcephfs through the foreign function interface.
@NullMarked
package dev.siphon.controller.ceph;

import org.jspecify.annotations.NullMarked;
