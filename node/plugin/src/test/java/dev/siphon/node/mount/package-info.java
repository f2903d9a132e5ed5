/// Tests of mounts, and the contract of every mounter.
@NullMarked
package dev.siphon.node.mount;

import org.jspecify.annotations.NullMarked;
