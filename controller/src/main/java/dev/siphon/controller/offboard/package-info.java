/// What an account leaves behind when somebody goes: frozen, handed over, or exported; never deleted.
@NullMarked
package dev.siphon.controller.offboard;

import org.jspecify.annotations.NullMarked;
