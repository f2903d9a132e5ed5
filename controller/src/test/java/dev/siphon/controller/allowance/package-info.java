/// Tests of what keeps quotas in step.
@NullMarked
package dev.siphon.controller.allowance;

import org.jspecify.annotations.NullMarked;
