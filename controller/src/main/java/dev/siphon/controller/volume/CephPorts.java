package dev.siphon.controller.volume;

/// The ports through which the domain reaches Ceph, together: one adapter serves them all.
public record CephPorts(
        Clusters clusters, Subvolumes subvolumes, FileTree files, Quiesce quiesce, MdsSessions sessions) {}
