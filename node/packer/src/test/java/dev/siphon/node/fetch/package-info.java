@NullMarked
package dev.siphon.node.fetch;

import org.jspecify.annotations.NullMarked;
