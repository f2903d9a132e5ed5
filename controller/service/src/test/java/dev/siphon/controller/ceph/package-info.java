@NullMarked
package dev.siphon.controller.ceph;

import org.jspecify.annotations.NullMarked;
