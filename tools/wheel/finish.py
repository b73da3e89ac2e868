#!/usr/bin/env python3
"""Adds to a repaired wheel the licence texts of all that it contains, and a description without relative links.

    finish.py WHEEL [CUDA_TOOLKIT]

Each library X in sptile.libs/ gets licenses/third-party/X.txt: the copyright file of its Debian package. So do header
libraries that are compiled in, and the CUDA runtime if the wheel has libsptile-cuda, which contains it. Fails when a
text is missing.
"""
import base64
import csv
import hashlib
import io
import pathlib
import re
import subprocess
import sys
import zipfile

DOCS, COMMON = pathlib.Path("/usr/share/doc"), pathlib.Path("/usr/share/common-licenses")
# Compiled in, so that the wheel has no files of them. Boost's license requires its text in source
# distributions only.
HEADERS = {"CLI11": "libcli11-dev", "expected": "libexpected-dev", "nlohmann-json": "nlohmann-json3-dev",
           "xxhash": "libxxhash-dev"}
STUB = {"libcurl": "A stub that is part of sptile (tools/wheel/no_curl.c); it contains no code of libcurl. See ../LICENSE.\n"}
CUDA_NOTICE = ("libsptile-cuda contains the CUDA runtime (cudart_static), Copyright NVIDIA Corporation, redistributed under "
               "Attachment A of the NVIDIA CUDA Toolkit End User License Agreement.\n")
DOCUMENTATION = "Guides, reference and results are in `docs/` of the sources.\n"


def package_of(library):
    """Returns the Debian package of a library, by its file name."""
    found = subprocess.run(["dpkg", "-S", f"*/{library}"], capture_output=True, text=True, check=False).stdout
    if not found:
        sys.exit(f"finish.py: no Debian package contains {library}; add its licence text")
    return found.split(":")[0]


def copyright_of(package):
    path = DOCS / package / "copyright"
    if not path.is_file():
        sys.exit(f"finish.py: {path} is missing; reinstall {package} with its documentation")
    return path.read_text(encoding="utf-8")


def third_party(wheel, names, toolkit):
    """Returns the texts by file name below licenses/third-party/."""
    texts = {}
    for name in names:
        if match := re.fullmatch(r"sptile\.libs/(.+)-[0-9a-f]{8}(\.so.*)", name):
            stem, suffix = match.groups()
            texts[f"{stem}.txt"] = STUB.get(stem) or copyright_of(package_of(stem + suffix))
    texts |= {f"{name}.txt": copyright_of(package) for name, package in HEADERS.items()}
    for common in sorted({c for text in texts.values() for c in re.findall(rf"{COMMON}/([\w.-]*\w)", text)}):
        texts[f"common-licenses/{common}.txt"] = (COMMON / common).read_text(encoding="utf-8")
    if any("libsptile-cuda.so" in name for name in names):
        agreement = pathlib.Path(toolkit or "/nonexistent") / "EULA.txt"
        texts["cuda-runtime.txt"] = CUDA_NOTICE + (agreement.read_text(encoding="utf-8") if agreement.is_file() else "")
    return texts


def without_relative_links(markdown):
    """Removes pictures and keeps the text of links whose targets are files of the project; fences stay as they are.

    The section of links to the documentation becomes a sentence.
    """
    def prose(text):
        text = re.sub(r"!\[[^\]]*\]\((?!\w+:)[^)]*\)\n?", "", text)
        return re.sub(r"\[([^\]]*)\]\((?!\w+:)[^)]*\)", r"\1", text)

    markdown, found = re.subn(r"(?<=\n## Documentation\n\n).*?(?=\n## |\Z)", DOCUMENTATION, markdown, flags=re.DOTALL)
    if found != 1:
        sys.exit("finish.py: README.md has no section \"Documentation\"")
    parts = re.split(r"(^```.*?^```$)", markdown, flags=re.MULTILINE | re.DOTALL)
    return "".join(part if part.startswith("```") else prose(part) for part in parts)


def record(files, name):
    """Returns the text of RECORD, which lists itself without a hash."""
    out = io.StringIO()
    lines = csv.writer(out, lineterminator="\n")
    for path, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        lines.writerow([path, f"sha256={digest}", len(data)])
    lines.writerow([name, "", ""])
    return out.getvalue().encode()


def main():
    path, toolkit = pathlib.Path(sys.argv[1]), next(iter(sys.argv[2:]), None)
    with zipfile.ZipFile(path) as wheel:
        infos = {info.filename: info for info in wheel.infolist() if not info.is_dir()}
        info_folder = next(name for name in infos if name.endswith(".dist-info/METADATA")).rpartition("/")[0]
        texts = third_party(wheel, infos, toolkit)
        files = {name: wheel.read(name) for name in infos if name != f"{info_folder}/RECORD"}
    metadata, _, description = files[f"{info_folder}/METADATA"].decode().partition("\n\n")
    metadata += "".join(f"\nLicense-File: third-party/{name}" for name in sorted(texts))
    files[f"{info_folder}/METADATA"] = f"{metadata}\n\n{without_relative_links(description)}".encode()
    files |= {f"{info_folder}/licenses/third-party/{name}": texts[name].encode() for name in sorted(texts)}
    files[f"{info_folder}/RECORD"] = record(files, f"{info_folder}/RECORD")

    template = infos[f"{info_folder}/METADATA"]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as wheel:
        for name, data in files.items():
            info = zipfile.ZipInfo(name, infos.get(name, template).date_time)
            info.external_attr = infos.get(name, template).external_attr
            wheel.writestr(info, data, zipfile.ZIP_DEFLATED, 9)
    print(f"{len(texts)} licence texts of others")


if __name__ == "__main__":
    main()
