@NullMarked
package dev.siphon.controller.dataset;

import org.jspecify.annotations.NullMarked;
