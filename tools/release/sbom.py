#!/usr/bin/env python3
"""Prints the dependencies of a build as a CycloneDX 1.5 document.

    meson introspect --dependencies BUILD | sbom.py VERSION SECONDS

Lists the dependencies that Meson reports, with their versions, and the libraries that it does not report. SECONDS since
1970 is the time stamp of the document, so that a commit always gives the same bytes.
"""
import datetime
import json
import subprocess
import sys
import uuid

# Libraries without a pkg-config file, which Meson does not list, and the Debian packages that contain their
# version.
UNLISTED = {"bzip2": "libbz2-dev", "expected": "libexpected-dev", "metis": "libmetis-dev"}


def unlisted():
    for name, package in UNLISTED.items():
        query = ["dpkg-query", "-W", "-f", "${source:Upstream-Version}", package]
        yield {"name": name, "version": subprocess.run(query, check=True, capture_output=True, text=True).stdout}


def component(dependency):
    name, version = dependency["name"], dependency.get("version", "unknown")
    known = version not in ("unknown", "undefined", "")
    row = {"type": "library", "bom-ref": f"{name}@{version}" if known else name, "name": name}
    return row | ({"version": version} if known else {})


def main():
    version, seconds = sys.argv[1], int(sys.argv[2])
    listed = json.load(sys.stdin)
    if not listed:
        sys.exit("sbom.py: no dependencies: is that a build folder?")
    found = {row["name"]: component(row) for row in (*listed, *unlisted())}
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
