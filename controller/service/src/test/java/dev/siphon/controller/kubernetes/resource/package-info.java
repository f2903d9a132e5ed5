@NullMarked
package dev.siphon.controller.kubernetes.resource;

import org.jspecify.annotations.NullMarked;
