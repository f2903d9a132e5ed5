/// Shared by tests of the node: a lab with a real Ceph, and the node as a separate process.
@NullMarked
package dev.siphon.node;

import org.jspecify.annotations.NullMarked;
