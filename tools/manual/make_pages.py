#!/usr/bin/env python3
"""Generates the manual pages sptile(1) and sptile-VERB(1), or the Markdown command reference.

    make_pages.py man SPTILE FOLDER VERB...
    make_pages.py markdown SPTILE FILE

All texts are those that SPTILE declares; common.py has the sections of sptile(1) that belong to no option. VERB...
are the verbs whose pages Meson expects.
"""
import json
import pathlib
import re
import subprocess
import sys
import textwrap

sys.dont_write_bytecode = True  # the source directory may be read-only
import common  # noqa: E402

WIDTH = 120


def command_of(sptile):
    """Returns the declared command and its version."""
    printed = subprocess.run([sptile, "completions", "bash", "--json"], check=True, capture_output=True, text=True)
    version = subprocess.run([sptile, "--version"], check=True, capture_output=True, text=True).stdout.split()[1]
    return json.loads(printed.stdout)["command"], version


def facts_of(option):
    """Returns facts such as "Default: 8 rows. Range: 1 to 1024." of an option."""
    unit = f" {option['unit']}" if option["unit"] else ""
    facts = [
        "Required." if option["required"] and not option["positional"] else "",
        f"Default: {option['default']}{unit}." if option["default"] else "",
        f"Choices: {', '.join(option['values'])}." if option["closed"] else "",
        f"Range: {option['range']}{'' if option['default'] else unit}." if option["range"] else "",
        f"Environment variable: {option['environment']}." if option["environment"] else "",
    ]
    return " ".join(fact for fact in facts if fact)


def sentence(text):
    return text if text.endswith(".") else text + "."


def text_of(option):
    return " ".join(text for text in (sentence(option["help"]), option["details"], facts_of(option)) if text)


def own_options(node):
    return [option for option in node["options"] if not option["common"]]


def example_lines(node):
    return [line.strip() for line in node["footer"].split("Example:\n")[-1].splitlines()]


def usage(path, node):
    words = [" ".join(path)]
    words += [f"{option['names'][-1]} {option['placeholder']}" for option in node["options"]
              if option["required"] and not option["positional"]]
    words += ["KIND"] if node["below"] else []
    words.append("[OPTIONS]")
    for option in node["options"]:
        if option["positional"]:
            name = option["names"][0] + ("..." if option["repeated"] else "")
            words.append(name if option["required"] else f"[{name}]")
    return " ".join(words)


class Roff:
    """Writer of pages in the man macros."""

    @staticmethod
    def escape(text):
        text = text.replace("\\", "\\e").replace("-", "\\-")
        return re.sub(r"^([.'])", r"\\&\1", text, flags=re.MULTILINE)

    @classmethod
    def prose(cls, text):
        """Returns wrapped paragraphs; code in backquotes becomes bold."""
        paragraphs = []
        for paragraph in text.replace("\n\n", "\n").split("\n"):
            lines = textwrap.wrap(paragraph, WIDTH, break_long_words=False, break_on_hyphens=False)
            roff = cls.escape("\n".join(lines))
            paragraphs.append(re.sub(r"`([^`]*)`", r"\\fB\1\\fR", roff))
        return "\n.PP\n".join(paragraphs)

    @classmethod
    def option(cls, option):
        names = ", ".join(f"\\fB{cls.escape(name)}\\fR" for name in option["names"])
        value = f" \\fI{cls.escape(option['placeholder'])}\\fR" if option["type"] and not option["positional"] else ""
        return f".TP\n{names}{value}\n{cls.prose(text_of(option))}".replace("\n.PP\n", "\n.IP\n")

    @classmethod
    def page(cls, name, version, sections):
        title = f'.TH {name.upper()} 1 "" "sptile {version}" "User Commands"'
        return title + "".join(f"\n.SH {heading}\n{body}" for heading, body in sections.items() if body) + "\n"

    @classmethod
    def lines(cls, lines):
        return ".nf\n.RS\n" + "\n".join(map(cls.escape, lines)) + "\n.RE\n.fi"

    @classmethod
    def kind(cls, kind):
        options = "\n".join(cls.option(option) for option in kind["options"] if "--help" not in option["names"])
        return f".TP\n.B {kind['name']}\n{cls.prose(sentence(kind['summary']))}\n.RS\n{options}\n.RE"

    @classmethod
    def verb(cls, node, version):
        own = own_options(node)
        return cls.page(f"sptile-{node['name']}", version, {
            "NAME": f"sptile\\-{node['name']} \\- {cls.escape(node['summary'])}",
            "SYNOPSIS": cls.prose(f"`{usage(['sptile', node['name']], node)}`"),
            "DESCRIPTION": cls.prose(node["details"]),
            "ARGUMENTS": "\n".join(cls.option(option) for option in own if option["positional"]),
            "OPTIONS": "\n".join([cls.option(option) for option in own if not option["positional"]]
                                 + [".PP", cls.prose(common.COMMON_OPTIONS)]),
            "KINDS": "\n".join(map(cls.kind, node["below"])),
            "JSON": cls.prose(node["json_keys"]),
            "EXAMPLES": cls.lines(example_lines(node)),
            "SEE ALSO": ".BR sptile (1)"})

    @classmethod
    def terms(cls, rows):
        return "\n".join(f".TP\n.B {cls.escape(term)}\n{cls.prose(text)}" for term, text in rows)

    @classmethod
    def main(cls, command, version):
        verbs = "\n".join(f".TP\n.BR sptile\\-{verb['name']} (1)\n{cls.prose(sentence(verb['summary']))}"
                          for verb in command["below"])
        shared = [option for option in command["below"][0]["options"] if option["common"]]
        return cls.page("sptile", version, {
            "NAME": f"sptile \\- {cls.escape(command['summary'])}",
            "SYNOPSIS": ".nf\n\\fBsptile\\fR \\fIVERB\\fR [OPTIONS]\n\\fBsptile help\\fR [\\fIVERB\\fR [\\fIKIND\\fR]]\n.fi",
            "DESCRIPTION": cls.prose(common.DESCRIPTION),
            "VERBS": verbs,
            "COMMON OPTIONS": "\n".join(map(cls.option, command["options"] + shared)),
            "EXIT STATUS": cls.terms(common.EXIT_CODES) + "\n.PP\n" + cls.prose(common.SIGNALS),
            "ENVIRONMENT": cls.terms(common.ENVIRONMENT),
            "FILES": cls.terms(common.FILES),
            "EXAMPLES": cls.lines(common.EXAMPLE),
            "SEE ALSO": ",\n".join(f".BR sptile\\-{verb['name']} (1)" for verb in command["below"])})


class Markdown:
    """Writer of one page for the documentation. Options that an earlier verb describes in the same words refer to it.
    """

    def __init__(self):
        self.described = {}  # text of an option -> the first verb that has it

    @staticmethod
    def prose(text, indent=""):
        paragraphs = text.replace("\n\n", "\n").split("\n")
        return "\n\n".join(textwrap.fill(paragraph, WIDTH, initial_indent=indent, subsequent_indent=indent,
                                         break_long_words=False, break_on_hyphens=False) for paragraph in paragraphs)

    @staticmethod
    def names(option):
        value = f" {option['placeholder']}" if option["type"] and not option["positional"] else ""
        return ", ".join(f"`{name}{value if name == option['names'][-1] else ''}`" for name in option["names"])

    @classmethod
    def option(cls, option):
        return f"- {cls.names(option)}\n\n{cls.prose(text_of(option), '    ')}"

    def options(self, verb, options):
        """Returns blocks of the new options, and one that lists the others."""
        blocks, repeated = [], {}
        for option in options:
            text = self.option(option)
            first = self.described.setdefault(text, verb)
            if first == verb:
                blocks.append(text)
            else:
                repeated.setdefault(first, []).append(self.names(option))
        return blocks + [self.prose(f"As for [`sptile {first}`](#sptile-{first}): {', '.join(names)}.")
                         for first, names in repeated.items()]

    @staticmethod
    def block(language, lines):
        return f"```{language}\n" + "\n".join(lines) + "\n```"

    @classmethod
    def kind(cls, kind):
        options = [cls.option(option) for option in kind["options"] if "--help" not in option["names"]]
        return "\n\n".join([f"#### `{kind['name']}`", cls.prose(sentence(kind["summary"])), *options])

    def verb(self, node):
        own = [option for option in own_options(node) if "--help" not in option["names"]]
        parts = [f"## `sptile {node['name']}`", sentence(node["summary"]),
                 self.block("text", [usage(["sptile", node["name"]], node)]), self.prose(node["details"]),
                 *self.options(node["name"], own), *map(self.kind, node["below"]),
                 self.prose("JSON keys: " + node["json_keys"]), "Example:", self.block("sh example", example_lines(node))]
        return "\n\n".join(parts)

    @classmethod
    def terms(cls, rows):
        return "\n".join(cls.prose(f"- `{term}`: {text}").replace("\n", "\n  ") for term, text in rows)

    def page(self, command):
        shared = [option for option in command["below"][0]["options"] if option["common"]]
        return "\n\n".join([
            "# Command reference", self.prose(common.GENERATED), self.prose(common.DESCRIPTION),
            "## Options of every verb", *map(self.option, shared), *map(self.verb, command["below"]),
            "## Exit codes", self.terms(common.EXIT_CODES), self.prose(common.SIGNALS),
            "## Environment variables", self.terms(common.ENVIRONMENT),
            "## Files", self.terms(common.FILES)]) + "\n"


def write_manual(sptile, folder, expected):
    command, version = command_of(sptile)
    names = [node["name"] for node in command["below"]]
    if sorted(names) != sorted(expected):
        sys.exit(f"verbs of the command: {sorted(names)}\nverbs of the build: {sorted(expected)}")
    (folder / "sptile.1").write_text(Roff.main(command, version))
    for node in command["below"]:
        (folder / f"sptile-{node['name']}.1").write_text(Roff.verb(node, version))


def main():
    output, sptile, target = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
    if output == "man":
        write_manual(sptile, target, sys.argv[4:])
    else:
        target.write_text(Markdown().page(command_of(sptile)[0]))


if __name__ == "__main__":
    main()
