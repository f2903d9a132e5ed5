/// Finds and explains defects below `/volumes`, and repairs those where nothing can be lost.
@NullMarked
package dev.siphon.controller.audit;

import org.jspecify.annotations.NullMarked;
