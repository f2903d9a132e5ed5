/// JSON files that administrators write: read whole, and refused with all that is wrong in them.
@NullMarked
package dev.siphon.controller.config;

import org.jspecify.annotations.NullMarked;
