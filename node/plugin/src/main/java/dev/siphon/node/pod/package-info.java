/// The pods that volumes are published for, and the events on them.
@NullMarked
package dev.siphon.node.pod;

import org.jspecify.annotations.NullMarked;
