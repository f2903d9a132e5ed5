/// What tests of the node share: a lab with a real Ceph, and the node as a process of its own.
@NullMarked
package dev.siphon.node;

import org.jspecify.annotations.NullMarked;
