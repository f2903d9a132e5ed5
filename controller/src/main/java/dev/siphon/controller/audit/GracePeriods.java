package dev.siphon.controller.audit;

import java.time.Duration;

/// How long what is under way may look unfinished before it is a finding. Everything else is looked at a second
/// time instead, see [Auditor].
///
/// @param filling of a volume from elsewhere whose copy or clone has ended, or may still run in the controller
/// @param orphan of an empty volume that no PersistentVolume stands for
/// @param trash of what was removed, until the mgr has purged it
/// @param pause between the two looks
public record GracePeriods(Duration filling, Duration orphan, Duration trash, Duration pause) {}
