@NullMarked
package dev.siphon.controller.monitor;

import org.jspecify.annotations.NullMarked;
