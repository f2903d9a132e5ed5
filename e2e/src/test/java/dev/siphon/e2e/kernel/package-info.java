/// Volumes mounted by the kernel's client, on nodes with kernels of their own.
@NullMarked
package dev.siphon.e2e.kernel;

import org.jspecify.annotations.NullMarked;
