package dev.siphon.controller.ldap;

import com.unboundid.ldap.sdk.LDAPException;
import com.unboundid.ldap.sdk.PasswordProvider;
import com.unboundid.ldap.sdk.ResultCode;
import java.io.IOException;
import java.io.Serial;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;

/// Reads a password from a file at each bind. Only the owner, and one group for reading, may have access:
/// Kubernetes gives the files of a Secret to root and to the pod's group.
final class PasswordFile extends PasswordProvider {
    @Serial
    private static final long serialVersionUID = 1L;

    /// A larger file cannot be a password; the path is probably wrong.
    private static final int MAX_BYTES = 4096;

    private static final Set<PosixFilePermission> CLOSED = EnumSet.of(
            PosixFilePermission.OWNER_READ,
            PosixFilePermission.OWNER_WRITE,
            PosixFilePermission.OWNER_EXECUTE,
            PosixFilePermission.GROUP_READ);

    private final String path;

    PasswordFile(Path path) {
        this.path = path.toString();
    }

    /// Returns the problem with the file; empty if there is none.
    static Optional<String> check(Path path) {
        try {
            byte[] password = read(path);
            Arrays.fill(password, (byte) 0);
            return Optional.empty();
        } catch (IOException unusable) {
            return Optional.of(unusable.getMessage() == null ? unusable.toString() : unusable.getMessage());
        }
    }

    @Override
    public byte[] getPasswordBytes() throws LDAPException {
        try {
            return read(Path.of(path));
        } catch (IOException unusable) {
            throw new LDAPException(ResultCode.PARAM_ERROR, String.valueOf(unusable.getMessage()), unusable);
        }
    }

    private static byte[] read(Path path) throws IOException {
        if (!Files.isRegularFile(path)) {
            throw new IOException(path + " is not a file");
        }
        if (!CLOSED.containsAll(Files.getPosixFilePermissions(path))) {
            throw new IOException(path + " is accessible to others than its owner and its group: chmod 0600 " + path);
        }
        if (Files.size(path) > MAX_BYTES) {
            throw new IOException(path + " is too long for a password");
        }
        byte[] bytes = Files.readAllBytes(path);
        int end = bytes.length;
        while (end > 0 && (bytes[end - 1] == '\n' || bytes[end - 1] == '\r')) {
            end--;
        }
        byte[] password = Arrays.copyOf(bytes, end);
        Arrays.fill(bytes, (byte) 0);
        if (end == 0) {
            // an empty password would make it an anonymous bind (RFC 4513, 5.1.2)
            throw new IOException(path + " is empty");
        }
        return password;
    }
}
