#!/usr/bin/env python3
"""Completes command lines in a real bash, zsh and fish, by the scripts of `sptile completions`.

    completions_test.py SPTILE PROJECT_ROOT [SHELL]...      without SHELL: all three

What each must offer comes from `sptile --help`, `sptile list` and the cases below. A shell that is not there is
said; when none is, the test ends with 77 (skipped).
"""
import json
import os
import pathlib
import pty
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import fcntl
import termios

SKIP = 77
# What is typed, and what the last word then is.
UNIQUE = {
    "sptile conv": "convert",
    "sptile -q --threads 2 conv": "convert",
    "sptile help conv": "convert",
    "sptile help gen plan": "planted",
    "sptile convert --reo": "--reorder",
    "sptile convert a.mtx a.h5 --reorder pac": "pack",
    "sptile convert --format csr,bitt": "csr,bittcf",
    "sptile run a.h5 --op sdd": "sddmm",
    "sptile gen plan": "planted",
    "sptile gen rmat --edg": "--edges",
    "sptile gen rmat --field patt": "pattern",
    "sptile gen rmat --shuf": "--shuffle",
    "sptile list dev": "devices",
    "sptile convert READ": "README.md",
    "sptile spy README.md -o READ": "README.md",
    "sptile completions fi": "fish",
}


def bash(script, line, _):
    """All words that bash offers for the last one."""
    program = f"""source {script}
COMP_WORDS=({line.rstrip()}{" ''" if line.endswith(' ') else ''}) COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
_sptile
printf '%s\\n' "${{COMPREPLY[@]}}" """
    return output("bash", "--norc", "-c", program).split()


def fish(script, line, _):
    program = f"source {script}; complete -C '{line}'"
    return [row.split("\t")[0] for row in output("fish", "--no-config", "-c", program).splitlines()]


def zsh(script, line, wanted):
    """Types the line and a tab at a terminal: the words of `wanted` that appear, and what the line has become."""
    home = script + ".zsh"
    os.makedirs(home, exist_ok=True)
    (pathlib.Path(home) / ".zshrc").write_text(f"""LISTMAX=100000
unsetopt prompt_cr prompt_sp list_ambiguous
autoload -Uz compinit; compinit -u
source {script}
finish() {{ print -r -- "<<$BUFFER>>"; exit }}
zle -N finish; bindkey '^X' finish
PROMPT='READY'
""")
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ.update(TERM="dumb", ZDOTDIR=home)
        os.execvp("zsh", ["zsh", "-d", "-i"])
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 2000, 200, 0, 0))
    read_until(terminal, "READY")
    os.write(terminal, (line + "\t\x18").encode())
    text = read_until(terminal, ">>")
    os.close(terminal)
    os.waitpid(pid, 0)
    # What zsh adds for the next word, and takes back when that is a blank.
    last = re.search(r"<<(.*)>>", text).group(1).split()[-1].rstrip("=,")
    return [last] + [word for word in wanted if re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", text)]


def read_until(terminal, end):
    text = ""
    while end not in text:
        text += os.read(terminal, 65536).decode(errors="replace")
    return text


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


SHELLS = {"bash": bash, "zsh": zsh, "fish": fish}


def words_of_help(sptile):
    """What is offered where: the verbs, and the long options and kinds of each."""
    def parts(*words):
        text = output(sptile, *words, "--help").split("\nExample:")[0]
        options = {name for row in re.findall(r"^  (-.*)$", text, flags=re.MULTILINE)
                   for name in re.findall(r"--[a-z0-9-]+", re.split(r"\s{2,}| [A-Z]+[: ]", row)[0])}
        below = re.split(r"^(?:Verbs|Kinds):$", text, flags=re.MULTILINE)[1:]
        return options, re.findall(r"^  ([\w-]+)", "".join(below), flags=re.MULTILINE)

    options, verbs = parts()
    of_verbs = {verb: parts(verb) for verb in verbs}
    shared = set.intersection(*(options for options, _ in of_verbs.values()))
    offers = {"sptile ": [*verbs, "help"], "sptile --": options | shared, "sptile help ": verbs}
    for verb, (options, kinds) in of_verbs.items():
        offers[f"sptile {verb} --"] = options
        if kinds:
            offers[f"sptile {verb} "] = kinds
    tables = json.loads(output(sptile, "list", "--json"))
    names = {table: [row["name"] for row in tables[table]] for table in ("formats", "reorderers", "kernels", "devices")}
    offers["sptile convert --format "] = ["all", *names["formats"]]
    offers["sptile reorder --method "] = names["reorderers"]
    offers["sptile run x.h5 --kernel "] = names["kernels"]
    offers["sptile run x.h5 --device "] = names["devices"]
    return offers


def check(shell, sptile, offers):
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        script = f"{folder}/sptile.{shell}"
        pathlib.Path(script).write_text(output(sptile, "completions", shell))
        for line, wanted in offers.items():
            got = set(SHELLS[shell](script, line, wanted))
            missing, beside = set(wanted) - got, got - set(wanted)
            if missing or (beside and shell != "zsh"):  # zsh gives what the line has become, too
                wrong.append(f"{shell}: {line!r}: missing {sorted(missing)}, beside {sorted(beside)}")
        for line, word in UNIQUE.items():
            got = SHELLS[shell](script, line, [])
            if got != [word]:
                wrong.append(f"{shell}: {line!r}: {got} instead of {word}")
    print(f"{shell}: {len(offers) + len(UNIQUE)} lines completed, {len(wrong)} wrong")
    return wrong


def main():
    sptile, root = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
    os.chdir(root)
    there = [shell for shell in sys.argv[3:] or SHELLS if shutil.which(shell)]
    for shell in set(sys.argv[3:] or SHELLS) - set(there):
        print(f"SKIPPED: {shell} is not installed", file=sys.stderr)
    offers = words_of_help(str(sptile))
    wrong = [text for shell in there for text in check(shell, str(sptile), offers)]
    print("\n".join(wrong))
    sys.exit(1 if wrong else 0 if there else SKIP)


if __name__ == "__main__":
    main()
