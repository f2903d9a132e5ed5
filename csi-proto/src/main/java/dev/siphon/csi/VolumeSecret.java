package dev.siphon.csi;

/// The names of what is in the secrets of a volume (CSI v1.13, "Secrets Requirements"): written by the controller,
/// or by an administrator for a volume by hand, and read by nodes.
public final class VolumeSecret {
    /// The cephx identity, without `client.`.
    public static final String USER_ID = "userID";

    /// Its key.
    public static final String USER_KEY = "userKey";

    /// The id of the one volume that it is for. What Siphon mints has it; where it is missing, Ceph alone decides
    /// what the key opens.
    public static final String VOLUME_ID = "volumeID";

    private VolumeSecret() {}
}
