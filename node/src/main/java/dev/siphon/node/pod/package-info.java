/// The pods that volumes are published for, and what their people are told.
@NullMarked
package dev.siphon.node.pod;

import org.jspecify.annotations.NullMarked;
