@NullMarked
package dev.siphon.controller.ceph.rados;

import org.jspecify.annotations.NullMarked;
