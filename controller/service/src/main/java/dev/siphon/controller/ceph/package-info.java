/// Implements the domain's ports with librados (mon and mgr commands) and libcephfs (files, MDS sessions).
@NullMarked
package dev.siphon.controller.ceph;

import org.jspecify.annotations.NullMarked;
