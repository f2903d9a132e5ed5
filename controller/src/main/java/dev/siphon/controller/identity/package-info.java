/// Who owns volumes: the port to a directory of accounts and its adapters.
@NullMarked
package dev.siphon.controller.identity;

import org.jspecify.annotations.NullMarked;
