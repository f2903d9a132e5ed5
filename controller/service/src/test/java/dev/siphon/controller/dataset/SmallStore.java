package dev.siphon.controller.dataset;

import dev.siphon.controller.grant.FileGrantsStore;
import dev.siphon.controller.grant.GrantsStore;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.Grants;

/// A store with room for 64 KiB, which then refuses writes like the API server.
record SmallStore(FileGrantsStore file) implements GrantsStore {
    private static final int MOST = 64 << 10;

    @Override
    public Grants last() {
        return file.last();
    }

    @Override
    public void publish(Grants grants) {
        if (grants.toJson().length() > MOST) {
            throw new DriverException.QuotaExhausted(where() + " can hold " + MOST + " bytes");
        }
        file.publish(grants);
    }

    @Override
    public long mostBytes() {
        return MOST;
    }

    @Override
    public String where() {
        return "a small store";
    }
}
