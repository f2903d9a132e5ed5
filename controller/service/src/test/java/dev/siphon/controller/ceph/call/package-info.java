@NullMarked
package dev.siphon.controller.ceph.call;

import org.jspecify.annotations.NullMarked;
