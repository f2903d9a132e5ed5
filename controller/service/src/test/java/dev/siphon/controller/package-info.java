/// Tests of the controller as a whole.
@NullMarked
package dev.siphon.controller;

import org.jspecify.annotations.NullMarked;
