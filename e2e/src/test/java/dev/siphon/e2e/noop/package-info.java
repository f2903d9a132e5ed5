/// A CSI driver that answers at once, beside which `make waves` measures Siphon.
@NullMarked
package dev.siphon.e2e.noop;

import org.jspecify.annotations.NullMarked;
