package dev.siphon.controller.kubernetes;

import com.google.gson.JsonObject;
import dev.siphon.controller.explain.NamespacedName;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/// A number of devices of a DeviceClass that a ResourceClaim requests (`resource.k8s.io/v1`, ExactDeviceRequest).
record DeviceAsk(String deviceClass, int count) {
    /// A selector expression that restricts a class to devices of one driver, or to some of these. The left operand
    /// of `&&` must hold whatever follows, so the rest is not parsed.
    private static final Pattern OF_DRIVER = Pattern.compile(
            "\\s*device\\.driver\\s*==\\s*(?:'([a-z0-9.-]{1,63})'|\"([a-z0-9.-]{1,63})\")\\s*(?:&&[^|?]*)?");

    /// Returns the countable requests of a claim. It omits requests with alternatives, requests for all devices of
    /// a node, and requests with `adminAccess`, which take no device from others.
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
                .flatMap(request -> JsonParts.text(request, "deviceClassName").filter(NamespacedName::isPart).stream()
                        .map(name -> new DeviceAsk(
                                name,
                                JsonParts.at(request, "count").isEmpty() ? 1 : JsonParts.number(request, "count"))))
                .toList();
    }

    /// Returns the driver of all devices of a class; empty unless its selectors state it in the usual form.
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
