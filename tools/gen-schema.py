#!/usr/bin/env python3
"""Writes crates/flyball-plane/src/schema/definitions.json: the type definitions of every kind the plane serves.

The source is the OpenAPI v3 documents that ship inside the Go module k8s.io/kubernetes, fetched with `go mod download`.
They are used rather than the `kubernetes-validate` package of PyPI because they are what a real server of that version
publishes: defaults, formats and nullability are intact. Only definitions reachable from KINDS are kept, so the file
holds what the plane can need and nothing else. Usage: tools/gen-schema.py [--check]
"""

import json
import pathlib
import subprocess
import sys

MODULE = "k8s.io/kubernetes@v1.37.2"
OUTPUT = pathlib.Path(__file__).resolve().parent.parent / "crates/flyball-plane/src/schema/definitions.json"
PREFIX = "#/components/schemas/"

# Document (as named in api/openapi-spec/v3) -> kinds wanted from it; every kind brings its List where there is one.
KINDS = {
    "api__v1": [
        "ConfigMap", "Event", "Namespace", "Pod", "PodTemplate", "ReplicationController", "ResourceQuota", "Secret",
        "Service", "ServiceAccount", "DeleteOptions", "Status", "WatchEvent",
    ],
    "apis__apiextensions.k8s.io__v1": ["CustomResourceDefinition"],
    "apis__apiregistration.k8s.io__v1": ["APIService"],
    "apis__apps__v1": ["ControllerRevision", "DaemonSet", "Deployment", "ReplicaSet", "StatefulSet"],
    "apis__autoscaling__v1": ["HorizontalPodAutoscaler"],
    "apis__autoscaling__v2": ["HorizontalPodAutoscaler"],
    "apis__batch__v1": ["Job"],
    "apis__coordination.k8s.io__v1": ["Lease"],
    "apis__events.k8s.io__v1": ["Event"],
    "apis__networking.k8s.io__v1": ["Ingress"],
    "apis__policy__v1": ["PodDisruptionBudget"],
}
# The body of every patch, and the subresource that is published with the workloads alone.
EXTRA = ["io.k8s.apimachinery.pkg.apis.meta.v1.Patch", "io.k8s.api.autoscaling.v1.Scale"]
GROUPS = {
    "", "apiextensions.k8s.io", "apiregistration.k8s.io", "apps", "autoscaling", "batch", "coordination.k8s.io", "events.k8s.io",
    "networking.k8s.io", "policy",
}


def module_dir():
    out = subprocess.run(["go", "mod", "download", "-json", MODULE], check=True, capture_output=True, text=True).stdout
    return pathlib.Path(json.loads(out)["Dir"])


def references(node):
    if isinstance(node, dict):
        target = node.get("$ref")
        if isinstance(target, str):
            yield target.removeprefix(PREFIX)
        for value in node.values():
            yield from references(value)
    elif isinstance(node, list):
        for value in node:
            yield from references(value)


def reachable(schemas, names):
    kept, todo = {}, list(names)
    while todo:
        name = todo.pop()
        if name not in kept:
            kept[name] = schemas[name]
            todo.extend(references(schemas[name]))
    return kept


def roots(document, schemas, kinds):
    group, version = document_gv(document)
    wanted = set(kinds) | {kind + "List" for kind in kinds}
    for name, schema in schemas.items():
        for gvk in schema.get("x-kubernetes-group-version-kind", []):
            if gvk["kind"] in wanted and (gvk["group"], gvk["version"]) == (group, version):
                yield name


def document_gv(document):
    parts = document.split("__")
    return ("", parts[1]) if parts[0] == "api" else (parts[1], parts[2])


def generate():
    base = module_dir() / "api/openapi-spec/v3"
    kept = {}
    for document, kinds in KINDS.items():
        schemas = json.loads((base / f"{document}_openapi.json").read_text())["components"]["schemas"]
        names = list(roots(document, schemas, kinds)) + [name for name in EXTRA if name in schemas]
        kept.update(reachable(schemas, names))
    for schema in kept.values():
        gvks = schema.get("x-kubernetes-group-version-kind")
        if gvks:
            schema["x-kubernetes-group-version-kind"] = [gvk for gvk in gvks if gvk["group"] in GROUPS]
    # One definition a line: a change of version reads as the definitions it changed.
    def line(name):
        return json.dumps(name) + ":" + json.dumps(kept[name], sort_keys=True, separators=(",", ":"))

    return "{\n" + ",\n".join(line(name) for name in sorted(kept)) + "\n}\n"


def main():
    text = generate()
    if "--check" in sys.argv[1:]:
        if OUTPUT.read_text() != text:
            sys.exit(f"{OUTPUT} differs from what tools/gen-schema.py makes: run it and commit the result")
    else:
        OUTPUT.write_text(text)


if __name__ == "__main__":
    main()
