/// Requests that are nearly right, and what every answer to one must be.
@NullMarked
package dev.siphon.csi.fuzz;

import org.jspecify.annotations.NullMarked;
