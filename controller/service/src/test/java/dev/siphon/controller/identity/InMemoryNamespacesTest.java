package dev.siphon.controller.identity;

import java.util.Map;

final class InMemoryNamespacesTest extends NamespacesContract {
    private final InMemoryNamespaces namespaces = new InMemoryNamespaces();

    @Override
    protected Namespaces namespaces() {
        return namespaces;
    }

    @Override
    protected String annotate(String name, Map<String, String> annotations) {
        namespaces.annotate(name, annotations);
        return name;
    }

    @Override
    protected String claim(String namespace, String name, Map<String, String> annotations) {
        return namespaces.make(namespace, name, annotations);
    }

    @Override
    protected void removeClaim(String namespace, String name) {
        namespaces.remove(namespace, name);
    }
}
