package dev.siphon.controller.key;

/// A client's session at an MDS.
///
/// @param daemon the MDS, by its global id
/// @param id the session's id, and the client's in the cluster
/// @param userId the identity that the MDS authenticated, without `client.`
/// @param host the host name that the client reports; unverified
/// @param address the client's IP address
public record ClientSession(long daemon, long id, String userId, String host, String address) {}
