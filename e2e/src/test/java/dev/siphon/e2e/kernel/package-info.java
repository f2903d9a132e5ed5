/// Volumes mounted by the kernel's client, on nodes with their own kernels.
@NullMarked
package dev.siphon.e2e.kernel;

import org.jspecify.annotations.NullMarked;
