/// Reads administrators' JSON files as a whole, and rejects one with a list of all its errors.
@NullMarked
package dev.siphon.controller.config;

import org.jspecify.annotations.NullMarked;
