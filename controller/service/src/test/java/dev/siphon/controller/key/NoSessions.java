package dev.siphon.controller.key;

import dev.siphon.csi.VolumeId;
import java.time.Duration;
import java.util.List;

/// Clusters without sessions.
public class NoSessions implements ClientSessions {
    @Override
    public List<ClientSession> all(String cluster, String fileSystem) {
        return List.of();
    }

    @Override
    public List<ClientSession> of(String cluster, String fileSystem, String userId) {
        return List.of();
    }

    @Override
    public List<ClientSession> mounting(VolumeId.Provisioned volume) {
        return List.of();
    }

    @Override
    public void end(String cluster, List<ClientSession> sessions) {
        // no sessions
    }

    @Override
    public void block(String cluster, String address, Duration time) {
        // no clients
    }
}
