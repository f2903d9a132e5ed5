/// What `siphon check` finds, and what it says to do, where all is well and where something is really wrong.
@NullMarked
package dev.siphon.e2e.check;

import org.jspecify.annotations.NullMarked;
