/// Fuzzing: sends almost valid requests and checks every reply; feeds mutated bytes to parsers.
@NullMarked
package dev.siphon.csi.fuzz;

import org.jspecify.annotations.NullMarked;
