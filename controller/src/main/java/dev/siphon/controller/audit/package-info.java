/// What is not as it should be below `/volumes`: looked for, explained, and mended where that loses nothing.
@NullMarked
package dev.siphon.controller.audit;

import org.jspecify.annotations.NullMarked;
