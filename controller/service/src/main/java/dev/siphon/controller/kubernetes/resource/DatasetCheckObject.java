package dev.siphon.controller.kubernetes.resource;

import com.fasterxml.jackson.annotation.JsonClassDescription;
import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.crd.generator.annotation.AdditionalPrinterColumn;
import io.fabric8.generator.annotation.Max;
import io.fabric8.generator.annotation.Min;
import io.fabric8.generator.annotation.Pattern;
import io.fabric8.generator.annotation.Required;
import io.fabric8.kubernetes.client.CustomResource;
import io.fabric8.kubernetes.model.annotation.Group;
import io.fabric8.kubernetes.model.annotation.Kind;
import io.fabric8.kubernetes.model.annotation.Version;
import org.jspecify.annotations.Nullable;

/// The parameters of an AdmissionCheck of Kueue. An administrator writes them.
@Group(Siphon.GROUP)
@Version(Siphon.VERSION)
@Kind("DatasetCheck")
@JsonClassDescription(
        "What an AdmissionCheck of Kueue whose controllerName is siphon.dev/dataset asks for. Its parameters name this object.")
@AdditionalPrinterColumn(name = "Replicas", type = AdditionalPrinterColumn.Type.INTEGER, jsonPath = ".spec.replicas")
@AdditionalPrinterColumn(name = "Max wait", jsonPath = ".spec.maxWait")
@AdditionalPrinterColumn(name = "Then", jsonPath = ".spec.then")
@AdditionalPrinterColumn(name = "While loading", jsonPath = ".spec.whileLoading")
@SuppressWarnings("serial") // never serialized by Java's own mechanism
public final class DatasetCheckObject extends CustomResource<DatasetCheckObject.Spec, Void> {
    /// What the administrator wants.
    @JsonIgnoreProperties(ignoreUnknown = true)
    public record Spec(
            @Min(1)
            @Max(1000)
            @JsonPropertyDescription(
                    "On how many nodes the data must be before the Workload is admitted; if fewer suit its pods, on all of them. Default: on as many as its pods need.")
            @Nullable
            Integer replicas,

            @Pattern("^[0-9]{1,7}[smh]?$")
            @JsonPropertyDescription(
                    "The longest wait: a number of seconds, or 90s, 10m, 1h; at most 24 hours. Default: gate.maxWait of the chart.")
            @Nullable
            String maxWait,

            @Pattern("^(admit|reject)$")
            @JsonPropertyDescription(
                    "What happens after that. admit: the Workload runs, and its pods read from CephFS. reject: Kueue deactivates it. Default: admit.")
            @Nullable
            String then,

            @Pattern("^(hold|release)$")
            @JsonPropertyDescription(
                    "What happens to the Workload's quota while its data loads. hold: the Workload keeps it. release: others use it; Siphon deactivates the Workload, and activates it when the data is there. Default: hold.")
            @Nullable
            String whileLoading) {}

    @Override
    @Required
    @JsonPropertyDescription("What is asked for. An administrator writes it.")
    public @Nullable Spec getSpec() {
        return super.getSpec();
    }
}
