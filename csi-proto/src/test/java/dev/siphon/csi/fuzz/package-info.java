/// Requests that are nearly right and what every answer to one must be; bytes that are bent, and what parsers make of
/// them.
@NullMarked
package dev.siphon.csi.fuzz;

import org.jspecify.annotations.NullMarked;
