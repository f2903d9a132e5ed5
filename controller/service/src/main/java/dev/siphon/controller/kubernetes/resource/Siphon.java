package dev.siphon.controller.kubernetes.resource;

/// The API group and version of Siphon's custom resources.
final class Siphon {
    static final String GROUP = "siphon.dev";
    static final String VERSION = "v1alpha1";

    private Siphon() {}
}
