/// The launcher `siphon` and its subcommands.
@NullMarked
package dev.siphon.cli;

import org.jspecify.annotations.NullMarked;
