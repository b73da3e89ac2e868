"""The processor and the commit that a measurement names."""

import re
import subprocess
from pathlib import Path

VECTORS = (("avx512f", "AVX-512"), ("avx2", "AVX2"), ("sve", "SVE"), ("asimd", "NEON"))


def _cpuinfo():
    """Returns the fields of the first processor in /proc/cpuinfo."""
    first = Path("/proc/cpuinfo").read_text().split("\n\n")[0]
    return {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in first.splitlines())}


def last_level_cache():
    """Returns the bytes of the largest cache that the first processor uses, 0 if unknown."""
    sizes = [file.read_text().strip() for file in Path("/sys/devices/system/cpu/cpu0/cache").glob("index*/size")]
    return max((int(size.removesuffix("K")) * 1024 for size in sizes if size.endswith("K")), default=0)


def processor(cores):
    """Returns name, family and model, vector extension, number of cores and cache of the processor."""
    info = _cpuinfo()
    name = info.get("model name") or f"implementer {info.get('CPU implementer')} part {info.get('CPU part')}"
    name = re.sub(r"\((R|TM)\)|\bCPU\b|@.*", " ", name)
    name = " ".join(name.split())
    if "cpu family" in info:
        name += f" (family {info['cpu family']}, model {info['model']})"
    flags = (info.get("flags") or info.get("Features") or "").split()
    vector = next((title for flag, title in VECTORS if flag in flags), "no vectors")
    cache = last_level_cache()
    return f"{name}, {vector}, {cores} cores" + (f", {cache >> 20} MiB cache" if cache else "")


def commit(root):
    """Returns the commit of a working tree, with a + if it has changes; empty without Git."""
    try:
        found = subprocess.run(
            ["git", "-C", str(root), "describe", "--always", "--abbrev=7", "--dirty=+", "--exclude=*"],
            capture_output=True,
            text=True,
        )
    except FileNotFoundError:
        return ""
    return found.stdout.strip()
