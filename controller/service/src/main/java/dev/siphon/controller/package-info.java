/// The controller process: configuration, composition and start.
@NullMarked
package dev.siphon.controller;

import org.jspecify.annotations.NullMarked;
