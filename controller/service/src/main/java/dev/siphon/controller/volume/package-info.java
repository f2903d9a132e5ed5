/// The domain: volumes, snapshots, group snapshots, attachments, and the ports they need.
@NullMarked
package dev.siphon.controller.volume;

import org.jspecify.annotations.NullMarked;
