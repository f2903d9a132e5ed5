package dev.siphon.controller.audit;

import java.time.Duration;

/// How long an operation in progress may look unfinished before it counts as a finding. All other findings are
/// checked a second time instead, see [Auditor].
///
/// @param filling for an unfinished volume: its copy may still run in the controller, or its clone has just ended
/// @param orphan for an empty volume without PersistentVolume
/// @param trash for removed data that the mgr has not purged
/// @param pause time between the two scans
public record GracePeriods(Duration filling, Duration orphan, Duration trash, Duration pause) {}
