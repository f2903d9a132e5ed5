@NullMarked
package dev.siphon.controller.check;

import org.jspecify.annotations.NullMarked;
