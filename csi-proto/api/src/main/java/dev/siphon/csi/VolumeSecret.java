package dev.siphon.csi;

/// The keys in the secrets of a volume (CSI v1.13, "Secrets Requirements"). The controller writes them, or an
/// administrator for a static volume; nodes read them.
public final class VolumeSecret {
    /// The cephx identity, without `client.`.
    public static final String USER_ID = "userID";

    /// The cephx key of the identity.
    public static final String USER_KEY = "userKey";

    /// The id of the only volume that the key is for. Siphon always sets it; without it, Ceph alone decides what
    /// the key opens.
    public static final String VOLUME_ID = "volumeID";

    private VolumeSecret() {}
}
