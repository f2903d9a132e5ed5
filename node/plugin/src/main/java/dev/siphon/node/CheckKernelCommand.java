package dev.siphon.node;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.KernelKeys;
import dev.siphon.node.ceph.KernelClient;
import dev.siphon.node.linux.ErrnoException;
import dev.siphon.node.mount.CephKey;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/// `siphon check kernel`: says which keys this node's kernel can mount with. In Kubernetes an init container runs it,
/// and the controller reads the output.
@Command(
        name = "kernel",
        description = {
            "Says which types of keys this kernel's CephFS client can use.",
            "Prints 'aes', 'aes aes256k', or 'none' if the kernel has no CephFS. Asks the kernel, and changes nothing."
        })
public final class CheckKernelCommand implements Callable<Integer> {
    @Spec
    private CommandSpec command = CommandSpec.create();

    @Override
    public Integer call() {
        try {
            command.commandLine().getOut().println(keys(KernelClient.ask()));
            return CommandLine.ExitCode.OK;
        } catch (ErrnoException refused) {
            throw new DriverException.AccessDenied(
                    "the kernel cannot be asked: " + refused.getMessage() + "; run it as root");
        }
    }

    static KernelKeys keys(KernelClient kernel) {
        return !kernel.hasCeph()
                ? KernelKeys.NONE
                : kernel.obstacle(CephKey.Kind.AES256K).isEmpty() ? KernelKeys.BOTH : KernelKeys.ONLY_AES;
    }
}
