/// The owners of volumes: the port to a directory of accounts, its cache, and the directory of files.
@NullMarked
package dev.siphon.controller.identity;

import org.jspecify.annotations.NullMarked;
