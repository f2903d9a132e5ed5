/// A controller that ends itself at a chosen call to Ceph, and what must be true afterwards.
@NullMarked
package dev.siphon.e2e.crash;

import org.jspecify.annotations.NullMarked;
