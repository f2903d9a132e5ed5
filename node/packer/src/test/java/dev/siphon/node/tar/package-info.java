@NullMarked
package dev.siphon.node.tar;

import org.jspecify.annotations.NullMarked;
