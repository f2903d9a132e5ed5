@NullMarked
package dev.siphon.node.warm;

import org.jspecify.annotations.NullMarked;
