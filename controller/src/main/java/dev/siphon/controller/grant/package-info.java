/// Which namespaces may use whose volumes: decided where volumes are made, published for the nodes.
@NullMarked
package dev.siphon.controller.grant;

import org.jspecify.annotations.NullMarked;
