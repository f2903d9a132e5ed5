/// What `siphon check` has in common on a controller's side and on a node's: what came of looking at one thing, in how
/// much time, and how that is told.
@NullMarked
package dev.siphon.csi.check;

import org.jspecify.annotations.NullMarked;
