/// Keeps the quotas of accounts in step with the directory.
@NullMarked
package dev.siphon.controller.allowance;

import org.jspecify.annotations.NullMarked;
