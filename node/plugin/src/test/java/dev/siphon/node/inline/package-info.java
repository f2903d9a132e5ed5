@NullMarked
package dev.siphon.node.inline;

import org.jspecify.annotations.NullMarked;
