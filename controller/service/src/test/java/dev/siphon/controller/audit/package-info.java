@NullMarked
package dev.siphon.controller.audit;

import org.jspecify.annotations.NullMarked;
