/// The RPCs of administrators' commands to the running controller, over its own socket.
@NullMarked
package dev.siphon.controller.admin.rpc;

import org.jspecify.annotations.NullMarked;
