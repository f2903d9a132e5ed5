package dev.siphon.controller.volume;

import dev.siphon.controller.identity.Account;
import dev.siphon.csi.VolumeId;
import java.util.OptionalLong;

/// What CreateVolume asks for.
///
/// @param id where it goes
/// @param account whose volume it is
/// @param owner the same with the uid and gid that the class puts in its place
record ResolvedVolumeSpec(VolumeId.Provisioned id, Account account, Account owner, VolumeRequest request) {
    private static final int MODE_OF_A_PERSON = 0700;

    /// Its members write; what they make belongs to the group.
    private static final int MODE_OF_A_GROUP = 02770;

    static ResolvedVolumeSpec of(VolumeId.Provisioned id, Account account, VolumeRequest request) {
        return new ResolvedVolumeSpec(id, account, owner(request.parameters(), account), request);
    }

    /// The same wish for the volume that holds the files.
    ResolvedVolumeSpec behind() {
        return new ResolvedVolumeSpec(Homes.behind(id), account, owner, request);
    }

    VolumeClass parameters() {
        return request.parameters();
    }

    CapacityRange capacity() {
        return request.capacity();
    }

    /// What it is filled from.
    ContentSource source() {
        return request.source().orElseThrow();
    }

    /// The permission bits of the data directory.
    int mode() {
        int usual = account.isGroup() ? MODE_OF_A_GROUP : MODE_OF_A_PERSON;
        return parameters().changeable().mode().orElse(parameters().mode().orElse(usual));
    }

    /// What the account may have: what the directory gives it, else what the class gives everybody.
    OptionalLong allowanceBytes() {
        return account.allowanceBytes().isPresent()
                ? account.allowanceBytes()
                : parameters().allowanceBytes();
    }

    /// The account with the uid and gid that the class puts in its place.
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
