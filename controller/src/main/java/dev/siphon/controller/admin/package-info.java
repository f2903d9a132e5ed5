/// What administrators call beside a running controller: `siphon user`, `siphon key` and so on. Each command connects
/// by itself and ends; what makes, changes or removes volumes goes through the controller's socket, since there is
/// one leader.
@NullMarked
package dev.siphon.controller.admin;

import org.jspecify.annotations.NullMarked;
