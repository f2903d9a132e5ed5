@NullMarked
package dev.siphon.node.registration;

import org.jspecify.annotations.NullMarked;
