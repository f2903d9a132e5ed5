package dev.siphon.controller.kubernetes;

import dev.siphon.controller.imports.DatasetImport;
import dev.siphon.controller.imports.FetchProgress;
import dev.siphon.controller.imports.ImportSource;
import dev.siphon.controller.imports.ImportStatus;
import dev.siphon.controller.kubernetes.resource.DatasetImportObject;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.Quantity;
import java.math.BigDecimal;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// Converts the objects of DatasetImports. It checks again what the custom resource's definition checks, because the
/// cluster may still have another version's definition.
final class ImportParser {
    private static final Pattern URL = Pattern.compile("https?://[^/?#@\\s]+(?:[/?#]\\S*)?");
    private static final Pattern ENDPOINT = Pattern.compile("https?://[^/?#@\\s]+/?");
    private static final Pattern DIGEST = Pattern.compile("[0-9a-f]{64}");
    private static final Pattern BUCKET = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._-]{1,62}");
    private static final Pattern REGION = Pattern.compile("[a-z0-9-]{1,64}");
    private static final Pattern SIZE = Pattern.compile("[1-9][0-9]{0,12}(?:Ki|Mi|Gi|Ti|k|M|G|T)?");
    private static final int LONGEST_URL = 2048;
    private static final int LONGEST_PATH = 1024;
    private static final int MOST_GROUPS = 20;

    private ImportParser() {}

    /// Returns the import; empty for an object without a name or uid.
    static Optional<DatasetImport> parse(DatasetImportObject object) {
        ObjectMeta meta = object.getMetadata();
        Optional<DatasetImportObject.Spec> spec = Optional.ofNullable(object.getSpec());
        String size = spec.flatMap(it -> Optional.ofNullable(it.size())).orElse("");
        List<String> groups = spec.flatMap(it -> Optional.ofNullable(it.readers()))
                .flatMap(it -> Optional.ofNullable(it.groups()))
                .orElse(List.of());
        Optional<Long> bytes = SIZE.matcher(size).matches() ? bytes(size) : Optional.empty();
        boolean isUsable = bytes.isPresent() && groups.size() <= MOST_GROUPS;
        ImportSource source = isUsable
                ? spec.flatMap(it -> Optional.ofNullable(it.source()))
                        .map(ImportParser::source)
                        .orElseGet(() -> wrong("spec.source is missing"))
                : wrong("spec.size or spec.readers is not what `kubectl explain datasetimport.spec` says");
        return Optional.ofNullable(meta.getUid())
                .map(uid -> new DatasetImport(
                        meta.getNamespace(),
                        meta.getName(),
                        uid,
                        Optional.ofNullable(meta.getGeneration()).orElse(0L),
                        source,
                        bytes.orElse(0L),
                        Set.copyOf(groups),
                        spec.map(DatasetImportObject.Spec::keepVolume).orElse(false),
                        status(object.getStatus())));
    }

    /// Returns a size; empty if no number of bytes is as large.
    private static Optional<Long> bytes(String size) {
        BigDecimal bytes = Quantity.getAmountInBytes(new Quantity(size));
        return bytes.compareTo(BigDecimal.valueOf(Long.MAX_VALUE)) < 0
                ? Optional.of(bytes.longValue())
                : Optional.empty();
    }

    private static ImportSource.Unusable wrong(String why) {
        return new ImportSource.Unusable(why + ": correct it, and apply it again under another name");
    }

    private static ImportSource source(DatasetImportObject.Source source) {
        Optional<ImportSource> https = Optional.ofNullable(source.https()).flatMap(ImportParser::https);
        Optional<ImportSource> s3 = Optional.ofNullable(source.s3()).flatMap(ImportParser::s3);
        Optional<ImportSource> claim = Optional.ofNullable(source.claim()).flatMap(ImportParser::claim);
        List<ImportSource> all =
                List.of(https, s3, claim).stream().flatMap(Optional::stream).toList();
        return all.size() == 1
                ? all.getFirst()
                : wrong("spec.source is not what `kubectl explain datasetimport.spec.source` says");
    }

    private static Optional<ImportSource> https(DatasetImportObject.Https from) {
        Optional<String> sha256 = Optional.ofNullable(from.sha256());
        boolean is = isLike(URL, LONGEST_URL, from.url())
                && sha256.isPresent() != Optional.ofNullable(from.checksum()).isPresent()
                && sha256.filter(it -> !DIGEST.matcher(it).matches()).isEmpty()
                && isNameOrAbsent(from.credentials());
        return is
                ? Optional.of(new ImportSource.Https(text(from.url()), sha256, Optional.ofNullable(from.credentials())))
                : Optional.empty();
    }

    private static Optional<ImportSource> s3(DatasetImportObject.S3 from) {
        String prefix = text(from.prefix());
        Optional<String> region = Optional.ofNullable(from.region());
        boolean is = isLike(ENDPOINT, LONGEST_URL, from.endpoint())
                && isLike(BUCKET, LONGEST_URL, from.bucket())
                && prefix.length() <= LONGEST_PATH
                && prefix.chars().noneMatch(Character::isISOControl)
                && region.filter(it -> !REGION.matcher(it).matches()).isEmpty()
                && isNameOrAbsent(from.credentials());
        return is
                ? Optional.of(new ImportSource.S3(
                        text(from.endpoint()),
                        text(from.bucket()),
                        prefix,
                        region,
                        Optional.ofNullable(from.credentials())))
                : Optional.empty();
    }

    private static Optional<ImportSource> claim(DatasetImportObject.Claim from) {
        String path = text(from.path());
        boolean is = isName(text(from.name()))
                && path.length() <= LONGEST_PATH
                && !path.startsWith("/")
                && path.chars().noneMatch(Character::isISOControl)
                && Arrays.stream(path.split("/", -1)).noneMatch(".."::equals);
        return is ? Optional.of(new ImportSource.Claim(text(from.name()), path)) : Optional.empty();
    }

    private static boolean isLike(Pattern pattern, int longest, @Nullable String text) {
        String there = text(text);
        return there.length() <= longest && pattern.matcher(there).matches();
    }

    private static boolean isName(String text) {
        return dev.siphon.controller.explain.NamespacedName.isPart(text);
    }

    private static boolean isNameOrAbsent(@Nullable String text) {
        return Optional.ofNullable(text).filter(it -> !isName(it)).isEmpty();
    }

    private static String text(@Nullable String text) {
        return Optional.ofNullable(text).orElse("");
    }

    private static ImportStatus status(DatasetImportObject.@Nullable Status said) {
        return Optional.ofNullable(said)
                .map(status -> new ImportStatus(
                        phase(text(status.phase())),
                        text(status.reason()),
                        text(status.message()),
                        text(status.dataset()),
                        new FetchProgress(
                                number(status.bytes(), 0),
                                number(status.totalBytes(), -1),
                                number(status.bytesPerSecond(), 0),
                                number(status.secondsLeft(), -1)),
                        Set.copyOf(Optional.ofNullable(status.readers()).orElse(List.of())),
                        new ImportStatus.DatasetUses(
                                number(status.pods(), 0),
                                Optional.ofNullable(status.usedBy()).orElse(List.of())),
                        number(status.settledGeneration(), 0)))
                .orElse(ImportStatus.NONE);
    }

    private static ImportStatus.Phase phase(String word) {
        return Arrays.stream(ImportStatus.Phase.values())
                .filter(each -> each.word().equals(word))
                .findFirst()
                .orElse(ImportStatus.Phase.RESERVING);
    }

    private static long number(@Nullable Long number, long otherwise) {
        return Optional.ofNullable(number).orElse(otherwise);
    }

    static DatasetImportObject.Status toObject(ImportStatus status) {
        return new DatasetImportObject.Status(
                status.phase().word(),
                status.reason(),
                status.message(),
                status.dataset(),
                status.progress().bytes(),
                status.progress().totalBytes(),
                status.progress().bytesPerSecond(),
                status.progress().secondsLeft(),
                List.copyOf(new TreeSet<>(status.readers())),
                status.uses().pods(),
                status.uses().namespaces(),
                status.settled());
    }
}
