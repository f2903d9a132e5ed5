@NullMarked
package dev.siphon.controller.admin;

import org.jspecify.annotations.NullMarked;
