@NullMarked
package dev.siphon.controller.grant;

import org.jspecify.annotations.NullMarked;
