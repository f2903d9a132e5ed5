package dev.siphon.node.fetch;

import dev.siphon.csi.DriverException;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;

/// Keeps downloads in memory.
final class FetchedInMemory implements DownloadDirectory {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    private String validator = "";
    long room = Long.MAX_VALUE;

    @Override
    public long length() {
        return bytes.size();
    }

    @Override
    public String validator() {
        return validator;
    }

    @Override
    public void begin(String version) {
        bytes = new ByteArrayOutputStream();
        validator = version;
    }

    @Override
    public void makeSureOfRoom(long wanted) {
        if (wanted > room) {
            throw new DriverException.QuotaExhausted("full");
        }
    }

    @Override
    public void append(ByteBuffer more) {
        byte[] taken = new byte[more.remaining()];
        more.get(taken);
        bytes.writeBytes(taken);
    }

    @Override
    public int read(long offset, ByteBuffer target) {
        byte[] all = bytes.toByteArray();
        int count = (int) Math.min(target.remaining(), all.length - offset);
        target.put(all, (int) offset, count);
        return count == 0 ? -1 : count;
    }

    @Override
    public void flush() {
        // nothing to sync
    }
}
