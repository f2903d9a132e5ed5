@NullMarked
package dev.siphon.controller.recovery;

import org.jspecify.annotations.NullMarked;
