package dev.siphon.controller.key;

/// A client's session at an MDS.
///
/// @param daemon the MDS, by its global id
/// @param id of the session, and of the client in the cluster
/// @param userId the identity that opened it, as the MDS found it to be; without `client.`
/// @param host what the client calls its host, which may be any
/// @param address the IP address from which it comes
public record ClientSession(long daemon, long id, String userId, String host, String address) {}
