/// Tests of what mounts, and the contract that every mounter keeps.
@NullMarked
package dev.siphon.node.mount;

import org.jspecify.annotations.NullMarked;
