package dev.siphon.node.mount;

import dev.siphon.csi.Monitors;
import dev.siphon.csi.VolumeId;
import java.util.List;
import java.util.Map;

/// Checks the fake mounter against the contract.
class OverlayMounterIT extends MounterContract {
    private static final String KEY = CephCredentialsTest.AES_KEY;

    @Override
    Mounter mounter() {
        workplace.directory("cluster/fs/volumes/g/v/data");
        return new OverlayMounter(workplace.path("cluster"), Map.of("u", KEY));
    }

    @Override
    ClientMount volume() {
        return new ClientMount(
                VolumeId.parse("s1:lab:fs:g:v"),
                Monitors.parse("10.0.0.1"),
                "fs",
                "/volumes/g",
                credentials("u", KEY),
                ClientOptions.of(List.of(), false));
    }

    @Override
    String writable() {
        return "v/data";
    }

    @Override
    CephCredentials unknown() {
        return credentials("nobody", CephCredentialsTest.AES256K_KEY);
    }
}
