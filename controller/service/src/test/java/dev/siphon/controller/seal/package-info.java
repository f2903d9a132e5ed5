@NullMarked
package dev.siphon.controller.seal;

import org.jspecify.annotations.NullMarked;
