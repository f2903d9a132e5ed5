package dev.siphon.e2e.kubernetes;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import dev.siphon.e2e.lab.Command;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/// A packer's Job, real or forged.
record PackerJob(JsonObject object) {
    /// A change to a packer's Job that runs another program or grants more than it needs.
    enum Forgery {
        A_PRIORITY,
        ANY_SYSTEM_CALL,
        PRIVILEGES,
        NO_SECURITY_CONTEXT,
        A_SECRET_TO_PULL_WITH,
        ANOTHER_CONTAINER,
        A_LIBRARY_OF_ITS_OWN,
        MORE_COMPLETIONS,
        A_HOOK,
        ANOTHER_COMMAND,
        ANOTHER_ACCOUNT,
        A_PATH_OF_THE_NODE,
        ANOTHER_NAME
    }

    private static void change(JsonObject job, Forgery forgery) {
        switch (forgery) {
            case A_PRIORITY -> pod(job).addProperty("priorityClassName", "system-node-critical");
            case ANY_SYSTEM_CALL ->
                pod(job).getAsJsonObject("securityContext").add("seccompProfile", json("{\"type\": \"Unconfined\"}"));
            case PRIVILEGES -> {
                JsonObject security = container(job).getAsJsonObject("securityContext");
                security.addProperty("privileged", true);
                security.addProperty("allowPrivilegeEscalation", true);
            }
            case NO_SECURITY_CONTEXT -> container(job).remove("securityContext");
            case A_SECRET_TO_PULL_WITH -> list(pod(job), "imagePullSecrets").add(json("{\"name\": \"siphon-ceph\"}"));
            case ANOTHER_CONTAINER -> {
                JsonObject second = container(job).deepCopy();
                second.addProperty("name", "b");
                pod(job).getAsJsonArray("containers").add(second);
            }
            case A_LIBRARY_OF_ITS_OWN -> list(container(job), "env").add(json("""
                    {"name": "LD_PRELOAD", "value": "/target/x"}"""));
            case MORE_COMPLETIONS -> job.getAsJsonObject("spec").addProperty("completions", 9);
            case A_HOOK -> container(job).add("lifecycle", json("""
                    {"postStart": {"exec": {"command": ["id"]}}}"""));
            case ANOTHER_COMMAND -> command(job, "import");
            case ANOTHER_ACCOUNT -> pod(job).addProperty("serviceAccountName", "siphon-node");
            case A_PATH_OF_THE_NODE -> list(pod(job), "volumes").add(json("""
                    {"name": "root", "hostPath": {"path": "/"}}"""));
            case ANOTHER_NAME -> job.getAsJsonObject("metadata").addProperty("name", "siphon-pack-y");
        }
    }

    private static void command(JsonObject job, String subcommand) {
        container(job).add("command", JsonParser.parseString("[siphon, dataset, " + subcommand + "]"));
    }

    private static JsonObject pod(JsonObject job) {
        return job.getAsJsonObject("spec").getAsJsonObject("template").getAsJsonObject("spec");
    }

    private static JsonObject container(JsonObject job) {
        return pod(job).getAsJsonArray("containers").get(0).getAsJsonObject();
    }

    private static JsonArray list(JsonObject object, String name) {
        if (!object.has(name)) {
            object.add(name, new JsonArray());
        }
        return object.getAsJsonArray(name);
    }

    private static JsonObject json(String text) {
        return JsonParser.parseString(text).getAsJsonObject();
    }

    /// Returns a Job as the controller creates it, from the chart's PodTemplate.
    static PackerJob real(Cluster cluster) {
        JsonObject template = json(cluster.kubectl(
                        "-n", Installation.NAMESPACE, "get", "podtemplate", "siphon-packer", "-o", "json"))
                .getAsJsonObject("template");
        JsonObject job = json("""
                {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "siphon-pack-x", "namespace": "siphon"},
                 "spec": {}}""");
        job.getAsJsonObject("spec").add("template", template);
        list(pod(job), "volumes").add(json("""
                {"name": "source", "persistentVolumeClaim": {"claimName": "siphon-pack-x-source"}}"""));
        return new PackerJob(job);
    }

    /// Returns the Job that reads the image back.
    static PackerJob check(Cluster cluster) {
        PackerJob job = real(cluster);
        command(job.object(), "check");
        return job;
    }

    /// Returns a Job with that change.
    static PackerJob forged(Cluster cluster, Forgery forgery) {
        PackerJob job = real(cluster);
        change(job.object(), forgery);
        return job;
    }

    /// Asks the API server in a dry run whether the controller may create it.
    Command.Result tryCreate(Cluster cluster) {
        try {
            Path file = Files.createTempFile("siphon-packer-", ".json");
            try {
                Files.writeString(file, object.toString());
                return cluster.tryKubectl(
                        "--as=system:serviceaccount:siphon:siphon-controller",
                        "create",
                        "--dry-run=server",
                        "-f",
                        file.toString());
            } finally {
                Files.delete(file);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
