@NullMarked
package dev.siphon.node.check;

import org.jspecify.annotations.NullMarked;
