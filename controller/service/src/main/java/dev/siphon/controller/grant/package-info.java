/// Decides which namespaces may use whose volumes when volumes are created, and publishes that for nodes.
@NullMarked
package dev.siphon.controller.grant;

import org.jspecify.annotations.NullMarked;
