package dev.siphon.controller.volume;

import dev.siphon.controller.identity.Account;
import dev.siphon.csi.VolumeId;
import java.util.OptionalLong;

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
