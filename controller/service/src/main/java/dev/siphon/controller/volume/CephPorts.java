package dev.siphon.controller.volume;

/// The ports through which the domain reaches Ceph; one adapter implements them all.
public record CephPorts(
        Clusters clusters, Subvolumes subvolumes, FileTree files, Quiesce quiesce, MdsSessions sessions) {}
