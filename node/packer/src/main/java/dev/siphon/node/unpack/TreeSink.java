package dev.siphon.node.unpack;

import java.io.IOException;

/// Receives the members of a tree, one after another. A later member replaces an earlier file with its path.
interface TreeSink {
    /// The lowest 9 bits of a mode, and the time of the last change.
    ///
    /// @param seconds since 1970
    /// @param nanos the rest, 0 to 999,999,999
    record Attributes(int permissions, long seconds, int nanos) {
        /// Only the owner may write; setuid, setgid and sticky bits are gone.
        static Attributes of(int mode, long seconds, int nanos) {
            return new Attributes(mode & 0777, seconds, nanos);
        }
    }

    /// Takes parts of a file.
    interface Target {
        /// Takes the first `length` of `bytes`, at `offset` of the file.
        void write(long offset, byte[] bytes, int length);
    }

    /// The content of a file, which can be read once.
    interface Content {
        /// Passes everything to `target`.
        ///
        /// @throws IOException if the source is damaged
        void writeTo(Target target) throws IOException;
    }

    void directory(MemberPath path, Attributes attributes);

    /// @param bytes the file's size; what `content` does not write are zeros
    /// @throws IOException of `content`
    void file(MemberPath path, Attributes attributes, long bytes, Content content) throws IOException;

    /// @param target each character is one byte
    void symlink(MemberPath path, String target);

    /// @param existing the path of an earlier file
    void hardLink(MemberPath path, MemberPath existing);
}
