/// The cluster under test: its daemons, commands to it, and its complete state.
@NullMarked
package dev.siphon.e2e.lab;

import org.jspecify.annotations.NullMarked;
