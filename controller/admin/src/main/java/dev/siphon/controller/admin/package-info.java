/// The administrators' commands: `siphon user`, `siphon key` and so on. Each opens its own connections and exits
/// when done. Whatever creates, changes or deletes volumes goes through the controller's socket, because only the
/// leader may do that.
@NullMarked
package dev.siphon.controller.admin;

import org.jspecify.annotations.NullMarked;
