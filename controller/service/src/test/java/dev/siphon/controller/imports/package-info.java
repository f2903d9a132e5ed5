@NullMarked
package dev.siphon.controller.imports;

import org.jspecify.annotations.NullMarked;
