/// A CSI driver that replies immediately; `make waves` compares Siphon with it.
@NullMarked
package dev.siphon.e2e.noop;

import org.jspecify.annotations.NullMarked;
