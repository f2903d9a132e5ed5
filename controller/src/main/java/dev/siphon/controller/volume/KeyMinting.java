package dev.siphon.controller.volume;

import dev.siphon.csi.VolumeContext;
import dev.siphon.csi.VolumeId;

/// Port: what has to happen to the key of a volume when the volume comes and goes.
public interface KeyMinting {
    /// Keys are none of the driver's business: whoever mounts brings one.
    KeyMinting NONE = new KeyMinting() {
        @Override
        public void made(VolumeId.Provisioned volume, VolumeContext context, String name) {
            // nobody waits for a key
        }

        @Override
        public void leaving(VolumeId.Provisioned volume) {
            // there is none
        }

        @Override
        public void removed(VolumeId.Provisioned volume) {
            // there is none
        }
    };

    /// A volume is whole: see that it has a key. Returns at once for an empty volume, whose key follows;
    /// costs no mgr command. Repeating it is safe.
    ///
    /// @param context what nodes are told of the volume
    /// @param name what the caller calls the volume; in Kubernetes the name of its PersistentVolume
    void made(VolumeId.Provisioned volume, VolumeContext context, String name);

    /// A volume is about to go. Whether it has gone may never be said: who is not answered cannot know. Asks nobody.
    void leaving(VolumeId.Provisioned volume);

    /// A volume is gone: its key goes too, wherever it is. Repeating it is safe.
    ///
    /// @throws dev.siphon.csi.DriverException.BackendUnavailable (UNAVAILABLE) if that is not certain
    void removed(VolumeId.Provisioned volume);
}
