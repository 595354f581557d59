#!/usr/bin/env python3
"""Writes crates/flyball-plane/src/protobuf/messages.json: which field number is which JSON field, for every message that
Go clients send in protobuf.

The source is the struct tags of the Go modules k8s.io/api and k8s.io/apimachinery (they name the number, the JSON field,
whether it is inlined and whether an empty one is left out; the .proto files know only the first). Messages that are not
reachable from ROOTS are left out. Usage: tools/gen-protobuf.py [--check]

A message is a map from field number to "NAME TYPE [FLAGS]". TYPE: s string, i integer, b bool, d double, y bytes, or
m:MESSAGE; in front of it [] for a list and {} for a map from strings. FLAGS: o left out when empty, > inlined.
"""

import json
import pathlib
import re
import subprocess
import sys

VERSION = "v0.37.2"
OUTPUT = pathlib.Path(__file__).resolve().parent.parent / "crates/flyball-plane/src/protobuf/messages.json"
PACKAGES = {  # Go import path -> our name
    "k8s.io/apimachinery/pkg/apis/meta/v1": "meta/v1",
    "k8s.io/api/core/v1": "core/v1",
    "k8s.io/api/apps/v1": "apps/v1",
    "k8s.io/api/autoscaling/v1": "autoscaling/v1",
    "k8s.io/api/autoscaling/v2": "autoscaling/v2",
    "k8s.io/api/batch/v1": "batch/v1",
    "k8s.io/api/coordination/v1": "coordination/v1",
    "k8s.io/api/events/v1": "events/v1",
    "k8s.io/api/authorization/v1": "authorization/v1",
    "k8s.io/api/networking/v1": "networking/v1",
    "k8s.io/api/policy/v1": "policy/v1",
    "k8s.io/api/scheduling/v1alpha3": "scheduling/v1alpha3",
    "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1": "apiregistration/v1",
}
ROOTS = [
    "core/v1.ConfigMap", "core/v1.Event", "core/v1.Namespace", "core/v1.Pod", "core/v1.ReplicationController",
    "core/v1.ResourceQuota", "core/v1.Secret", "core/v1.Service", "core/v1.ServiceAccount",
    "apiregistration/v1.APIService", "apps/v1.ControllerRevision", "apps/v1.DaemonSet", "apps/v1.Deployment",
    "apps/v1.ReplicaSet", "apps/v1.StatefulSet", "autoscaling/v1.HorizontalPodAutoscaler", "autoscaling/v1.Scale",
    "autoscaling/v2.HorizontalPodAutoscaler", "batch/v1.Job", "coordination/v1.Lease",
    "events/v1.Event", "networking/v1.Ingress", "policy/v1.PodDisruptionBudget",
    "meta/v1.DeleteOptions", "authorization/v1.SelfSubjectAccessReview",
]
BASIC = {
    "string": "s", "bool": "b", "float64": "d", "[]byte": "y",
    **{name: "i" for name in ("int", "int32", "int64", "uint32", "uint64", "uint8")},
}
# Types with a JSON form of their own; the decoder knows them by name.
SPECIAL = {
    "resource.Quantity": "Quantity", "intstr.IntOrString": "IntOrString", "runtime.RawExtension": "RawExtension",
    "meta/v1.Time": "Time", "meta/v1.MicroTime": "MicroTime", "meta/v1.FieldsV1": "FieldsV1",
}
FOREIGN = {"types.UID": "string", "types.NodeName": "string"}


def module_folder(module):
    found = subprocess.run(
        ["go", "mod", "download", "-json", f"{module}@{VERSION}"], check=True, capture_output=True, text=True
    )
    return pathlib.Path(json.loads(found.stdout)["Dir"])


class Package:
    def __init__(self, path, name):
        module = "/".join(path.split("/")[:2])
        folder = module_folder(module) / "/".join(path.split("/")[2:])
        self.name, self.types, self.imports = name, {}, {}
        for file in sorted(folder.glob("*.go")):
            if not file.name.endswith("_test.go") and not file.name.startswith("zz_") and file.name != "generated.pb.go":
                self.read(file.read_text())

    def read(self, text):
        for alias, path in re.findall(r'^\s*(\w+)?\s*"(k8s\.io/[^"]+)"$', text, re.M):
            self.imports[alias or path.rsplit("/", 1)[1]] = path
        for name, body in re.findall(r"^type (\w+) struct \{\n(.*?)^\}", text, re.M | re.S):
            self.types.setdefault(name, body)
        for name, target in re.findall(r"^type (\w+) ([\w\[\].*]+)(?: //.*| `.*)?$", text, re.M):
            if target != "struct":
                self.types.setdefault(name, ("=", target))


def resolve(package, go):
    """The TYPE of a Go type named in `package`, and the message it needs."""
    go = go.lstrip("*")
    if go in BASIC:
        return BASIC[go], None
    if go.startswith("[]"):
        inner, need = resolve(package, go[2:])
        return "[]" + inner, need
    if match := re.fullmatch(r"map\[[\w.]+\](.+)", go):
        inner, need = resolve(package, match[1])
        return "{}" + inner, need
    if go in FOREIGN:
        return resolve(package, FOREIGN[go])
    if go in SPECIAL:
        return "m:" + SPECIAL[go], None
    if "." in go:
        alias, name = go.split(".")
        package, go = packages[PACKAGES[package.imports[alias]]], name
    full = f"{package.name}.{go}"
    if full in SPECIAL:
        return "m:" + SPECIAL[full], None
    found = package.types[go]
    if isinstance(found, tuple):
        # A named list is a message of its own on the wire, with the list as field 1.
        if found[1].startswith("[]") and found[1] != "[]byte":
            inner, need = resolve(package, found[1])
            return f"m:{full}", (full, package, {"1": f"- {inner}"}, need)
        return resolve(package, found[1])
    return f"m:{full}", (full, package, found, None)


def collect(package, go, messages):
    resolved, need = resolve(package, go)
    while need:
        full, owner, body, following = need
        if full not in messages:
            if isinstance(body, dict):
                messages[full] = body
            else:
                messages[full] = {}
                fields(full, owner, body, messages)
        need = following
    return resolved


FIELD = re.compile(r'^\s*(?:(\w+)\s+)?([\w\[\].*]+)\s+`([^`]*)`', re.M)


def fields(full, package, body, messages):
    for _, go, tags in FIELD.findall(body):
        number = re.search(r'protobuf:"\w+,(\d+)', tags)
        tag = re.search(r'json:"([^"]*)"', tags)
        if not number or not tag:
            continue
        name, *options = tag[1].split(",")
        kind = collect(package, go, messages)
        flags = ""
        if "inline" in options or not name:
            name, flags = "-", ">"
        elif ("omitempty" in options or "omitzero" in options) and not go.startswith("*"):
            flags = "o"
        messages[full][number[1]] = " ".join(part for part in (name, kind, flags) if part)


packages = {name: Package(path, name) for path, name in PACKAGES.items()}


def main():
    messages = {}
    for root in ROOTS:
        package, name = root.rsplit(".", 1)
        collect(packages[package], name, messages)
    for message in messages:
        messages[message] = dict(sorted(messages[message].items(), key=lambda item: int(item[0])))
    lines = [f" {json.dumps(name)}: {json.dumps(messages[name])}" for name in sorted(messages)]
    text = "{\n" + ",\n".join(lines) + "\n}\n"
    if "--check" in sys.argv:
        sys.exit(0 if OUTPUT.read_text() == text else f"{OUTPUT} is not what this script makes")
    OUTPUT.write_text(text)


main()
