@NullMarked
package dev.siphon.controller.ceph.fs;

import org.jspecify.annotations.NullMarked;
