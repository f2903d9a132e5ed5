@NullMarked
package dev.siphon.node.image;

import org.jspecify.annotations.NullMarked;
