package dev.siphon.controller.kubernetes.resource;

import io.fabric8.crd.generator.annotation.AdditionalPrinterColumn;
import io.fabric8.crdv2.generator.CRDGenerator;
import io.fabric8.crdv2.generator.CRDPostProcessor;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceColumnDefinition;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinition;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinitionVersion;
import io.fabric8.kubernetes.api.model.apiextensions.v1.JSONSchemaProps;
import io.fabric8.kubernetes.client.CustomResource;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/// The chart's custom resource definitions, generated from their Java types. This class adds what the generator
/// cannot express: formats of numbers and times, keyed lists, the order of columns, and a `status` that is no
/// subresource.
final class CustomResourceDefinitions {
    /// The introduction of each file.
    private static final Map<Class<? extends CustomResource<?, ?>>, String> INTRODUCTIONS = Map.of(
            DatasetObject.class,
            """
            # Sealed datasets and who may read them (docs/how-to/publish-datasets.md). Whoever may write these decides who reads what: nobody but
            # administrators is allowed to by default.
            """,
            DatasetAccessObject.class,
            """
            # How nodes ask the controller for datasets that pods name or claim (docs/explanation/dataset-paths.md). They go with their pods; the keys
            # in them are encrypted for the process that asked.
            """,
            DatasetCheckObject.class,
            """
            # What Kueue's AdmissionChecks of the controller siphon.dev/dataset ask for (docs/how-to/gpu-nodes.md). Administrators write them.
            """,
            DatasetReplicaObject.class,
            """
            # What the controller wants on disks of nodes, and how far they are: for pods that wait at the scheduling gate
            # siphon.dev/dataset, and for DatasetWarmups. The keys in them are encrypted for the node's process that asked.
            """,
            DatasetWarmupObject.class,
            """
            # Datasets that an administrator wants on disks ahead of time.
            """,
            DatasetImportObject.class,
            """
            # Data that people of a namespace have fetched, and that becomes a dataset of their account (docs/how-to/import-datasets.md).
            """,
            NamespaceAccessObject.class,
            """
            # What the pods of each namespace may use, for its people to see (docs/how-to/datasets.md). The controller writes them; nodes read one
            # when the ConfigMap siphon-grants has no room for what its namespace may use.
            """);

    /// By plural and field path.
    private static final Map<String, String> FORMATS = Map.of(
            "datasets.spec.bytes", "int64",
            "datasets.status.conditions.lastTransitionTime", "date-time",
            "datasetreplicas.spec.turn.progressBytes", "int64",
            "datasetreplicas.status.bytes", "int64",
            "datasetreplicas.status.progressBytes", "int64",
            "datasetimports.status.bytes", "int64",
            "datasetimports.status.totalBytes", "int64",
            "datasetwarmups.spec.until", "date-time",
            "namespaceaccesses.status.datasets.bytes", "int64");

    /// The key field of each keyed list, likewise by plural and path.
    private static final Map<String, String> KEYS =
            Map.of("datasets.status.conditions", "type", "datasets.status.nodes", "name");

    private CustomResourceDefinitions() {}

    static Iterable<Class<? extends CustomResource<?, ?>>> types() {
        return INTRODUCTIONS.keySet().stream()
                .sorted(Comparator.comparing(Class::getSimpleName))
                .toList();
    }

    /// Returns the path of the chart's definition.
    static Path file(Class<? extends CustomResource<?, ?>> type) {
        return Path.of("..", "..", "deploy", "chart", "templates", HasMetadata.getPlural(type) + ".yaml");
    }

    /// Returns the file's contents.
    ///
    /// @param folder an empty folder for the generator
    static String text(Class<? extends CustomResource<?, ?>> type, Path folder) {
        CRDPostProcessor complete = new CRDPostProcessor() {
            @Override
            public HasMetadata process(HasMetadata definition, String version) {
                complete(type, (CustomResourceDefinition) definition);
                return definition;
            }
        };
        int _ = new CRDGenerator()
                .forCRDVersions("v1")
                .withPostProcessor(complete)
                .inOutputDir(folder.toFile())
                .customResourceClasses(List.<Class<? extends HasMetadata>>of(type))
                .generate();
        try {
            String generated = Files.readString(folder.resolve(HasMetadata.getFullResourceName(type) + "-v1.yml"));
            return Optional.ofNullable(INTRODUCTIONS.get(type)).orElseThrow()
                    + "# Generated from " + type.getSimpleName() + ".java by `make definitions`.\n"
                    + generated.replaceFirst("^#.*\\n", "");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void complete(Class<?> type, CustomResourceDefinition definition) {
        var names = definition.getSpec().getNames();
        names.setListKind(names.getKind() + "List");
        CustomResourceDefinitionVersion version =
                definition.getSpec().getVersions().getFirst();
        sort(version.getAdditionalPrinterColumns(), type);
        JSONSchemaProps schema = version.getSchema().getOpenAPIV3Schema();
        FORMATS.forEach(
                (path, format) -> at(schema, names.getPlural(), path).ifPresent(field -> field.setFormat(format)));
        KEYS.forEach((path, key) -> at(schema, names.getPlural(), path).ifPresent(list -> {
            list.setXKubernetesListType("map");
            list.setXKubernetesListMapKeys(List.of(key));
        }));
        if (type == NamespaceAccessObject.class) {
            version.setSubresources(null);
            schema.getProperties().remove("spec");
        }
        if (type == DatasetCheckObject.class) {
            version.setSubresources(null);
            schema.getProperties().remove("status");
        }
    }

    private static void sort(List<CustomResourceColumnDefinition> columns, Class<?> type) {
        List<String> order = Arrays.stream(type.getAnnotationsByType(AdditionalPrinterColumn.class))
                .map(AdditionalPrinterColumn::name)
                .toList();
        columns.sort(Comparator.comparingInt(column -> order.indexOf(column.getName())));
        columns.stream()
                .filter(column -> Integer.valueOf(0).equals(column.getPriority()))
                .forEach(column -> column.setPriority(null));
    }

    /// Returns the field at a path; empty for paths of other resources.
    private static Optional<JSONSchemaProps> at(JSONSchemaProps schema, String plural, String path) {
        List<String> steps = List.of(path.split("\\.", -1));
        if (!steps.getFirst().equals(plural)) {
            return Optional.empty();
        }
        JSONSchemaProps found = schema;
        for (String step : steps.subList(1, steps.size())) {
            JSONSchemaProps of = found;
            JSONSchemaProps holder = Optional.ofNullable(of.getItems())
                    .map(items -> items.getSchema())
                    .orElse(of);
            found = Optional.ofNullable(holder.getProperties().get(step))
                    .orElseThrow(() -> new IllegalStateException("there is no field " + path));
        }
        return Optional.of(found);
    }
}
