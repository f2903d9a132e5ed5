package dev.siphon.controller.kubernetes.resource;

/// Which custom resources are Siphon's.
final class Siphon {
    static final String GROUP = "siphon.dev";
    static final String VERSION = "v1alpha1";

    private Siphon() {}
}
