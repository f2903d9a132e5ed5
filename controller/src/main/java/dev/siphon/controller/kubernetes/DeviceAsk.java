package dev.siphon.controller.kubernetes;

import com.google.gson.JsonObject;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/// So many devices of a DeviceClass, as a ResourceClaim asks for them (`resource.k8s.io/v1`, ExactDeviceRequest).
record DeviceAsk(String deviceClass, int count) {
    /// An expression by which a class has devices of one driver, or some of these: what is left of `&&` has to be so
    /// whatever comes behind it. Nothing of the rest is understood.
    private static final Pattern OF_DRIVER = Pattern.compile(
            "\\s*device\\.driver\\s*==\\s*(?:'([a-z0-9.-]{1,63})'|\"([a-z0-9.-]{1,63})\")\\s*(?:&&[^|?]*)?");

    /// What can be counted of a claim. Left out is a request that may be fulfilled in several ways, one for all
    /// devices that a node has, and one that only looks at devices that others have (`adminAccess`).
    ///
    /// @param spec the claim's
    static List<DeviceAsk> of(JsonObject spec) {
        return JsonParts.each(spec, "devices", "requests")
                .flatMap(request -> JsonParts.object(request, "exactly").stream())
                .filter(request -> JsonParts.text(request, "adminAccess")
                        .filter("true"::equals)
                        .isEmpty())
                .filter(request -> JsonParts.text(request, "allocationMode")
                        .filter(mode -> !mode.equals("ExactCount"))
                        .isEmpty())
                .flatMap(request -> JsonParts.text(request, "deviceClassName")
                        .filter(name -> KubernetesNamespaces.NAME.matcher(name).matches())
                        .stream()
                        .map(name -> new DeviceAsk(
                                name,
                                JsonParts.at(request, "count").isEmpty() ? 1 : JsonParts.number(request, "count"))))
                .toList();
    }

    /// The driver that all devices of a class are of; empty if its selectors do not say that in the usual way.
    ///
    /// @param spec the class's
    static Optional<String> driver(JsonObject spec) {
        return JsonParts.each(spec, "selectors")
                .flatMap(selector -> JsonParts.text(selector, "cel", "expression").stream())
                .flatMap(DeviceAsk::driver)
                .findFirst();
    }

    private static Stream<String> driver(String expression) {
        Matcher matcher = OF_DRIVER.matcher(expression);
        return matcher.matches()
                ? Stream.of(Optional.ofNullable(matcher.group(1)), Optional.ofNullable(matcher.group(2)))
                        .flatMap(Optional::stream)
                : Stream.empty();
    }
}
