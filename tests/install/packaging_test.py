#!/usr/bin/env python3
"""Checks that the packages agree with the build: one version, one release date, and all packages needed to compile.
Also checks that the scripts exist that the CI workflow runs.

    packaging_test.py PROJECT_ROOT
"""
import pathlib
import re
import subprocess
import sys


def find(pattern, path):
    match = re.search(pattern, path.read_text(), flags=re.MULTILINE)
    return match.group(1) if match else f"no {pattern}"


def main():
    root = pathlib.Path(sys.argv[1])
    wrong = []
    version = find(r"^  version: '(.*)',$", root / "meson.build")
    others = {"debian/changelog": r"^sptile \((.*?)\)", "CITATION.cff": r"^version: (.*)$",
              "tools/conda/meta.yaml": r'set version = "(.*?)"', "docs/changelog.md": r"^## ([\d.]+)"}
    for name, pattern in others.items():
        if (other := find(pattern, root / name)) != version:
            wrong.append(f"{name} has version {other}, meson.build {version}")

    date = find(r"^## [\d.]+ \((\d{4}-\d\d-\d\d)\)$", root / "docs/changelog.md")
    if (cited := find(r'^date-released: "(.*)"$', root / "CITATION.cff")) != date:
        wrong.append(f"CITATION.cff has date-released {cited}, docs/changelog.md {date}")

    script = f'. "{root}/tools/setup.sh" && printf "%s\\n" "${{build_packages[@]}}"'
    needed = set(subprocess.run(["bash", "-c", script], check=True, capture_output=True, text=True).stdout.split())
    assert len(needed) > 10, needed
    control = (root / "debian" / "control").read_text()
    wanted = set(re.findall(r"[a-z0-9.+-]+", re.search(r"Build-Depends:(.*?)\n\n", control, flags=re.DOTALL).group(1)))
    # These two every build of Debian packages has.
    if missing := needed - wanted - {"g++", "dpkg-dev"}:
        wrong.append(f"debian/control does not have {sorted(missing)} of tools/setup.sh in Build-Depends")

    workflow = (root / ".github/workflows/ci.yml").read_text()
    scripts = set(re.findall(r"(?<![\w./])(?:tools|tests)/[\w/]+\.(?:sh|py)", workflow))
    assert len(scripts) > 4, scripts
    wrong += [f"ci.yml runs {script}, which does not exist" for script in sorted(scripts) if not (root / script).is_file()]
    print("\n".join(wrong) or f"packages of version {version}, {len(needed)} packages to build with")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
