/// Tests of this package.
@NullMarked
package dev.siphon.node.ceph;

import org.jspecify.annotations.NullMarked;
