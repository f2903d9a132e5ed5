package dev.siphon.controller.key;

import java.util.Set;

/// The types of keys that a cluster accepts.
///
/// @param preferred its default for new keys
/// @param allowed all types that it accepts
/// @param makesAes whether it also makes new keys of type `aes`
public record CephCiphers(String preferred, Set<String> allowed, boolean makesAes) {
    public CephCiphers {
        allowed = Set.copyOf(allowed);
    }
}
