package dev.siphon.controller.volume;

import dev.siphon.controller.identity.Account;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.SnapshotId;
import dev.siphon.csi.VolumeId;
import java.util.Optional;
import java.util.OptionalLong;

/// A request for a volume.
///
/// @param name the caller's name for it, by which a retry finds it
/// @param capacity the accepted sizes
/// @param parameters the class, with the VolumeAttributesClass already merged in
/// @param readOnly whether every requested access mode only reads
/// @param source the source of its contents; empty for none
public record VolumeRequest(
        String name, CapacityRange capacity, VolumeClass parameters, boolean readOnly, Optional<ContentSource> source) {
    /// Returns the same request without a source.
    public VolumeRequest withoutSource() {
        return new VolumeRequest(name, capacity, parameters, readOnly, Optional.empty());
    }

    /// Returns whether the volume may show a dataset: nobody can write to one, so a class must name it, or the
    /// request must only read.
    boolean mayShowDataset() {
        return readOnly || parameters.dataset().isPresent();
    }

    /// The range of sizes that a caller accepts.
    ///
    /// @param requiredBytes the minimum; 0 for none
    /// @param limitBytes the maximum; 0 for none
    public record CapacityRange(long requiredBytes, long limitBytes) {
        /// Accepts any size.
        public static final CapacityRange ANY = new CapacityRange(0, 0);

        /// The size of a volume for which the caller requests none.
        private static final long DEFAULT_BYTES = 1L << 30;

        public CapacityRange {
            if (requiredBytes < 0 || limitBytes < 0) {
                throw new DriverException.CapacityOutOfRange("capacity_range must not be negative: required_bytes "
                        + requiredBytes + ", limit_bytes " + limitBytes);
            }
            if (limitBytes > 0 && requiredBytes > limitBytes) {
                throw new DriverException.CapacityOutOfRange(
                        "capacity_range.required_bytes " + requiredBytes + " is more than limit_bytes " + limitBytes);
            }
        }

        /// Returns the size of a new volume: the required size, else `atLeast` if known, else 1 GiB or the limit
        /// if smaller.
        ///
        /// @param atLeast the size of the source
        /// @throws DriverException.CapacityOutOfRange (OUT_OF_RANGE) if `atLeast` does not fit the range
        public long resolveSize(OptionalLong atLeast) {
            if (atLeast.isPresent()) {
                long least = atLeast.getAsLong();
                if (limitBytes > 0 && least > limitBytes) {
                    throw new DriverException.CapacityOutOfRange(
                            "the source holds " + least + " bytes, more than capacity_range.limit_bytes " + limitBytes);
                }
                if (requiredBytes > 0 && requiredBytes < least) {
                    throw new DriverException.CapacityOutOfRange("capacity_range.required_bytes " + requiredBytes
                            + " is less than the " + least + " bytes of the source: ask for at least as many");
                }
                return Math.max(requiredBytes, least);
            }
            if (requiredBytes > 0) {
                return requiredBytes;
            }
            return limitBytes > 0 ? Math.min(limitBytes, DEFAULT_BYTES) : DEFAULT_BYTES;
        }

        /// Returns whether a volume of this size is within the range.
        public boolean accepts(long bytes) {
            return bytes >= requiredBytes && (limitBytes == 0 || bytes <= limitBytes);
        }

        /// Returns the size of an existing volume after an expansion, which never shrinks it.
        ///
        /// @param now its size in bytes
        /// @throws DriverException.CapacityOutOfRange (OUT_OF_RANGE) if it already exceeds the maximum
        long grow(VolumeId id, long now) {
            if (limitBytes > 0 && now > limitBytes) {
                throw new DriverException.CapacityOutOfRange("volume " + id + " has " + now
                        + " bytes, more than capacity_range.limit_bytes " + limitBytes + ", and never shrinks");
            }
            return Math.max(now, requiredBytes);
        }
    }

    /// The access modes of CSI v1.13 and what each allows.
    public enum ClaimAccessMode {
        SINGLE_NODE_WRITER(false, false),
        SINGLE_NODE_READER_ONLY(false, true),
        MULTI_NODE_READER_ONLY(true, true),
        MULTI_NODE_SINGLE_WRITER(true, false),
        MULTI_NODE_MULTI_WRITER(true, false),
        SINGLE_NODE_SINGLE_WRITER(false, false),
        SINGLE_NODE_MULTI_WRITER(false, false);

        private final boolean multiNode;
        private final boolean readOnly;

        ClaimAccessMode(boolean multiNode, boolean readOnly) {
            this.multiNode = multiNode;
            this.readOnly = readOnly;
        }

        /// Returns whether several nodes may use the volume at once.
        public boolean multiNode() {
            return multiNode;
        }

        /// Returns whether the volume is only read.
        public boolean readOnly() {
            return readOnly;
        }
    }

    /// The source of a new volume's contents.
    public sealed interface ContentSource {
        /// A snapshot.
        record FromSnapshot(SnapshotId snapshot) implements ContentSource {
            @Override
            public String toString() {
                return "snapshot " + snapshot;
            }
        }

        /// Another volume in its current state.
        record FromVolume(VolumeId.Provisioned volume) implements ContentSource {
            @Override
            public String toString() {
                return "volume " + volume;
            }
        }

        /// Returns the source volume, or the snapshot's volume.
        default VolumeId.Provisioned volume() {
            return switch (this) {
                case FromSnapshot from -> from.snapshot().volume();
                case FromVolume from -> from.volume();
            };
        }

        /// Returns the id to write into the volume's metadata.
        default String id() {
            return switch (this) {
                case FromSnapshot from -> from.snapshot().toString();
                case FromVolume from -> from.volume().toString();
            };
        }

        /// Returns the key of the lock that prevents the source's removal while a volume is created from it.
        default String lock() {
            return switch (this) {
                case FromSnapshot from -> Volumes.key(from.snapshot());
                // no other volume uses its transfer snapshot
                case FromVolume from -> "clones of " + from.volume();
            };
        }
    }

    /// What a CreateVolume request asks for, with its id and owner.
    ///
    /// @param id where the volume goes
    /// @param account the account that owns it
    /// @param owner the account with the class's uid and gid, if the class sets them
    record ResolvedVolumeSpec(VolumeId.Provisioned id, Account account, Account owner, VolumeRequest request) {
        private static final int MODE_OF_A_PERSON = 0700;

        /// Members may write, and new files belong to the group.
        private static final int MODE_OF_A_GROUP = 02770;

        static ResolvedVolumeSpec of(VolumeId.Provisioned id, Account account, VolumeRequest request) {
            return new ResolvedVolumeSpec(id, account, owner(request.parameters(), account), request);
        }

        /// Returns the same request for the volume that holds the files.
        ResolvedVolumeSpec behind() {
            return new ResolvedVolumeSpec(Homes.behind(id), account, owner, request);
        }

        /// Returns the same request without a size.
        ResolvedVolumeSpec ofAnySize() {
            VolumeRequest any = new VolumeRequest(
                    request.name(), CapacityRange.ANY, request.parameters(), request.readOnly(), request.source());
            return new ResolvedVolumeSpec(id, account, owner, any);
        }

        VolumeClass parameters() {
            return request.parameters();
        }

        CapacityRange capacity() {
            return request.capacity();
        }

        /// Returns the source of a request that has one.
        ContentSource source() {
            return request.source().orElseThrow();
        }

        /// Returns the permission bits of the data directory.
        int mode() {
            int usual = account.isGroup() ? MODE_OF_A_GROUP : MODE_OF_A_PERSON;
            return parameters().changeable().mode().orElse(parameters().mode().orElse(usual));
        }

        /// Returns the account's allowance in bytes: from the account directory, else from the class.
        OptionalLong allowanceBytes() {
            return account.allowanceBytes().isPresent()
                    ? account.allowanceBytes()
                    : parameters().allowanceBytes();
        }

        /// Returns the account with the class's uid and gid, if the class sets them.
        private static Account owner(VolumeClass parameters, Account account) {
            return new Account(
                    account.name(),
                    account.id(),
                    parameters.uid().orElse(account.uid()),
                    parameters.gid().orElse(account.gid()),
                    account.groups(),
                    account.allowanceBytes());
        }
    }
}
