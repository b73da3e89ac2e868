#!/usr/bin/env python3
"""Prints the dependencies of a build as a CycloneDX 1.5 document.

    meson introspect --dependencies BUILD | sbom.py VERSION SECONDS

Lists the dependencies that Meson found, with the versions that it reports. SECONDS since 1970 is the time stamp of the
document, so that a commit always gives the same bytes.
"""
import datetime
import json
import sys
import uuid


def component(dependency):
    name, version = dependency["name"], dependency.get("version", "unknown")
    known = version not in ("unknown", "undefined", "")
    row = {"type": "library", "bom-ref": f"{name}@{version}" if known else name, "name": name}
    return row | ({"version": version} if known else {})


def main():
    version, seconds = sys.argv[1], int(sys.argv[2])
    found = {row["name"]: component(row) for row in json.load(sys.stdin)}
    if not found:
        sys.exit("sbom.py: no dependencies: is that a build folder?")
    components = [found[name] for name in sorted(found)]
    sptile = {"type": "application", "bom-ref": f"sptile@{version}", "name": "sptile", "version": version,
              "licenses": [{"license": {"id": "Apache-2.0"}}]}
    content = json.dumps([sptile, components], sort_keys=True)
    document = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_OID, content)}",
        "version": 1,
        "metadata": {
            "timestamp": datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "component": sptile,
        },
        "components": components,
        "dependencies": [{"ref": sptile["bom-ref"], "dependsOn": [row["bom-ref"] for row in components]}],
    }
    print(json.dumps(document, indent=2))


if __name__ == "__main__":
    main()
