package dev.siphon.node.packer;

import com.google.gson.GsonBuilder;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.dataset.Dataset;
import dev.siphon.csi.dataset.Digest;
import dev.siphon.csi.dataset.Manifest;
import dev.siphon.node.image.DatasetDirectory;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/// `siphon dataset seal`: does everything for a dataset except applying its object to Kubernetes. Needs the root of
/// the file system mounted, by a client that may set layouts.
@Command(
        name = "seal",
        description = {
            "Imports a dataset into its own directory below /datasets, and prints the object that declares it.",
            "What it prints is for Kubernetes: siphon dataset seal ... | kubectl apply -f -",
            "If killed, it resumes where it stopped. Once it is done, the same command prints the same again."
        })
public final class SealCommand implements Callable<Integer> {
    @Spec
    private CommandSpec command = CommandSpec.create();

    @Option(
            names = "--name",
            paramLabel = "NAME",
            required = true,
            description = "The dataset's name: NAME or OWNER/NAME.")
    private String name = "";

    @Option(
            names = "--mount",
            paramLabel = "DIR",
            required = true,
            description = "Where the root of the file system is mounted.")
    private Path mount = Path.of("");

    @Option(
            names = "--reader",
            paramLabel = "READER",
            required = true,
            split = ",",
            description = "Who may read it: an account, group:NAME, or * for everybody. May be given several times.")
    private List<String> readers = List.of();

    @Option(
            names = "--fs-name",
            paramLabel = "NAME",
            defaultValue = "cephfs",
            description = "The file system's name (default: cephfs).")
    private String fileSystem = "";

    @Option(
            names = "--cluster",
            paramLabel = "ID",
            description = "The cluster's id in clusters.json (default: the default cluster).")
    private Optional<String> cluster = Optional.empty();

    @Mixin
    private ImportOptions options = new ImportOptions();

    @Override
    public Integer call() {
        // reject an invalid declaration or source before any work
        String object = Dataset.name("--name", name);
        var _ = declared(object, Digest.of(ByteBuffer.allocate(0)), 0);
        var _ = options.request(mount);
        DatasetDirectory directory = DatasetDirectory.make(mount, object);
        Manifest manifest = options.run(
                options.request(directory.image()), command.commandLine().getErr());
        Dataset dataset = declared(object, manifest.root(), manifest.imageBytes());
        command.commandLine()
                .getOut()
                .println(new GsonBuilder()
                        .setPrettyPrinting()
                        .disableHtmlEscaping()
                        .create()
                        .toJson(dataset.toObject()));
        command.commandLine().getOut().flush();
        return 0;
    }

    private Dataset declared(String object, Digest digest, long bytes) {
        try {
            return new Dataset(
                    object, cluster, fileSystem, Dataset.DIRECTORY + "/" + object, digest, bytes, Set.copyOf(readers));
        } catch (DriverException.InvalidRequest e) {
            throw new DriverException.InvalidRequest(
                    "this dataset cannot be declared: name, file system and cluster are part of its volumes' ids,"
                            + " and " + e.getMessage());
        }
    }
}
