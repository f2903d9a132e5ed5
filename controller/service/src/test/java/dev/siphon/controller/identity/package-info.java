/// Tests of the directories of accounts.
@NullMarked
package dev.siphon.controller.identity;

import org.jspecify.annotations.NullMarked;
