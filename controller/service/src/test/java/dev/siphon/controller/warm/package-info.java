@NullMarked
package dev.siphon.controller.warm;

import org.jspecify.annotations.NullMarked;
