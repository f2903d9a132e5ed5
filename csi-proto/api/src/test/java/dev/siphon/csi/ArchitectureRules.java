package dev.siphon.csi;

import static com.tngtech.archunit.core.domain.JavaModifier.FINAL;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.fields;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaCall;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.properties.HasName;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

/// Rules for every module. Each module has an `ArchitectureTest` that applies them to its own classes.
///
/// The direction inside a module is rpc → domain ← adapter. gRPC and protobuf end in `rpc`, librados in
/// `ceph`, the operating system in `mount` and `linux`. The domain knows none of them.
public final class ArchitectureRules {
    private static final String[] RPC = {
        "..rpc..", "dev.siphon.csi.server..", "dev.siphon.csi.client..", "dev.siphon.cli.."
    };
    private static final String[] DOMAIN = {
        "dev.siphon.controller.volume..",
        "dev.siphon.controller.identity..",
        "dev.siphon.controller.allowance..",
        "dev.siphon.controller.key..",
        "dev.siphon.controller.grant..",
        "dev.siphon.controller.dataset..",
        "dev.siphon.controller.imports..",
        "dev.siphon.controller.seal..",
        "dev.siphon.controller.warm..",
        "dev.siphon.controller.audit..",
        "dev.siphon.controller.offboard..",
        "dev.siphon.controller.explain..",
        "dev.siphon.controller.recovery..",
        "dev.siphon.controller.monitor..",
        "dev.siphon.node.mount..",
        "dev.siphon.node.replica..",
        "dev.siphon.node.device",
        "dev.siphon.node.grant..",
        "dev.siphon.node.inline..",
        "dev.siphon.node.pod..",
        "dev.siphon.node.warm..",
        "dev.siphon.node.topology",
        "dev.siphon.node.chunk..",
        "dev.siphon.node.image..",
        "dev.siphon.node.tar..",
        "dev.siphon.node.unpack..",
        "dev.siphon.node.registration.."
    };
    private static final String[] ADAPTERS = {
        "dev.siphon.controller.ceph..",
        "dev.siphon.controller.ldap..",
        "dev.siphon.controller.kubernetes..",
        "dev.siphon.node.ceph..",
        "dev.siphon.node.kubernetes.."
    };

    /// Domain classes that read or write JSON: files, notes at directories, and objects for `kubectl apply`.
    private static final String JSON_FORMS =
            ".*\\.(FileKeyStore|GrantNote|DatasetsFile|Pod|DatasetRecords|YamlText|.*Documents?)(\\$.*)?";

    @ArchTest
    static final ArchRule packagesAreConcepts = noClasses()
            .should()
            .resideInAnyPackage(
                    "..util..", "..utils..", "..common..", "..helper..", "..helpers..", "..impl..", "..manager..")
            .because("such a package says nothing about what is in it");

    @ArchTest
    static final ArchRule namesAreConcepts = noClasses()
            .should()
            .haveNameMatching(".*(Util|Utils|Helper|Manager|Impl)")
            .because("such a name says nothing about what the class is for");

    @ArchTest
    static final ArchRule streamObserversStayInRpc = noClasses()
            .that()
            .resideOutsideOfPackages(RPC)
            .should()
            .dependOnClassesThat()
            .resideInAPackage("io.grpc.stub..")
            .because("handlers return a response or throw a DriverException");

    @ArchTest
    static final ArchRule statusesAreMadeInOnePlace = noClasses()
            .that()
            .resideOutsideOfPackages(RPC)
            .and()
            .areNotAssignableTo(StatusMapping.class)
            .should()
            .dependOnClassesThat()
            .haveNameMatching("io\\.grpc\\.Status.*")
            .because("StatusMapping is the one table from errors to codes");

    @ArchTest
    static final ArchRule rpcHandlersMakeNoStatus = noClasses()
            .that()
            .resideInAnyPackage("..rpc..")
            .and()
            // gRPC clients, which receive a status
            .resideOutsideOfPackages("..admin.rpc..", "..device.rpc..", "..fuse.rpc..")
            .should()
            .dependOnClassesThat()
            .haveNameMatching("io\\.grpc\\.Status.*")
            .because("StatusMapping is the one table from errors to codes");

    @ArchTest
    static final ArchRule theDomainKnowsNoTransport = noClasses()
            .that()
            .resideInAnyPackage(DOMAIN)
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(
                    "io.grpc..",
                    "com.google.protobuf..",
                    "csi.v1..",
                    "com.sun.jna..",
                    "com.ceph..",
                    "com.unboundid..",
                    "io.fabric8..",
                    "com.fasterxml.jackson..",
                    "java.net.http..")
            .because("the domain is the same whatever carries the calls and whatever stores the data");

    @ArchTest
    static final ArchRule theDomainKnowsNoJson = noClasses()
            .that()
            .resideInAnyPackage(DOMAIN)
            .and()
            .haveNameNotMatching(JSON_FORMS)
            .should()
            .dependOnClassesThat()
            .resideInAPackage("com.google.gson..")
            .because("values have types; text is read where it comes in");

    @ArchTest
    static final ArchRule theDomainKnowsNoAdapter = noClasses()
            .that()
            .resideInAnyPackage(DOMAIN)
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(ADAPTERS)
            .orShould()
            .dependOnClassesThat()
            .resideInAPackage("..rpc..")
            .because("rpc and the adapters depend on the domain, not the other way round");

    @ArchTest
    static final ArchRule kubernetesIsOnlyInItsAdapter = noClasses()
            .that()
            .resideOutsideOfPackage("..kubernetes..")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("io.fabric8..", "com.fasterxml.jackson..")
            .because("a process without Kubernetes loads none of its client, which would cost memory and time");

    @ArchTest
    static final ArchRule httpIsOnlyWhereItIsSpoken = noClasses()
            .that()
            .resideOutsideOfPackages("..kubernetes..", "dev.siphon.node.fetch..")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("java.net.http..", "org.apache.hc..", "software.amazon..")
            .because("a process that asks no server loads no client, which would cost memory and time");

    @ArchTest
    static final ArchRule adaptersKnowNoRpc = noClasses()
            .that()
            .resideInAnyPackage(ADAPTERS)
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("..rpc..", "io.grpc..", "csi.v1..")
            .because("rpc and the adapters meet in the domain");

    @ArchTest
    static final ArchRule rpcKnowsNoAdapter = noClasses()
            .that()
            .resideInAPackage("..rpc..")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(ADAPTERS)
            .because("rpc and the adapters meet in the domain");

    @ArchTest
    static final ArchRule mountsKnowNoTransport = noClasses()
            .that()
            .resideInAnyPackage("dev.siphon.node.mount..", "dev.siphon.node.linux..")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("io.grpc..", "com.google.protobuf..", "csi.v1..", "..rpc..")
            .because("what mounts is the same whatever carries the calls");

    @ArchTest
    static final ArchRule processesAreApart = noClasses()
            .that()
            .resideInAPackage("dev.siphon.node..")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("dev.siphon.controller..", "com.ceph..", "com.sun.jna..", "com.unboundid..")
            .because("a node holds no admin key, so it has nothing that could use one");

    @ArchTest
    static final ArchRule whatRunsAgainSurvivesItsExceptions = noClasses()
            .that(DescribedPredicate.describe("do not use BackgroundTasks", ArchitectureRules::usesNoBackgroundTasks))
            .should()
            .callMethodWhere(JavaCall.Predicates.target(
                            HasName.Predicates.nameMatching("scheduleWithFixedDelay|scheduleAtFixedRate"))
                    .as("an executor's methods that run a task again and again"))
            .because("an executor never again runs a task that has thrown");

    private static boolean usesNoBackgroundTasks(JavaClass each) {
        return each.getDirectDependenciesFromSelf().stream()
                .noneMatch(dependency -> dependency.getTargetClass().isEquivalentTo(BackgroundTasks.class));
    }

    @ArchTest
    static final ArchRule noStaticState = fields().that()
            .areStatic()
            .should()
            .haveModifier(FINAL)
            .because("what changes belongs to an object that somebody made and passes on");

    @ArchTest
    static final ArchRule noConsole = noClasses()
            .that()
            .resideOutsideOfPackage("dev.siphon.cli..")
            .should()
            .accessField(System.class, "out")
            .orShould()
            .accessField(System.class, "err")
            .because("a process logs, as JSON");

    @ArchTest
    static final ArchRule noCycles =
            slices().matching("dev.siphon.(**)").should().beFreeOfCycles();

    private ArchitectureRules() {}
}
