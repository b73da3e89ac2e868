#!/usr/bin/env python3
"""Makes the manual pages: sptile(1), and sptile-VERB(1) for each verb.

    make_pages.py SPTILE PAGE FOLDER VERB...

Verbs, their options and examples are those that the command SPTILE has; PAGE (docs/man/sptile.1) says more about
them: a .SS part for each verb, in it paragraphs, a .TP for each option of which more is to be said than its help
does, "X is as in VERB", and "JSON:". The other parts of PAGE are those of sptile(1). FOLDER gets the pages; that
VERB... are the verbs of the command is checked, as meson must know what is made.
"""
import json
import pathlib
import re
import subprocess
import sys

OPTION = re.compile(r"(?<![\w-])(--[a-z][a-z0-9-]*|-[a-zA-Z])(?![\w-])")
AS_IN = re.compile(r"(?:are|is) as in\s+\.BR (\w+) \.$")


def roff(text):
    """Plain text as roff shows it."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"^([.'])", r"\\&\1", text, flags=re.MULTILINE)


def plain(source):
    return re.sub(r"\\f[BIR]", "", source).replace("\\-", "-")


def parts_of(page, level):
    """The texts below each `level` heading by its name; "" is what stands before the first."""
    pieces = re.split(rf"^\.{level} (.*)$", page, flags=re.MULTILINE)
    return {"": pieces[0].strip(), **{name: text.strip() for name, text in zip(pieces[1::2], pieces[2::2])}}


class VerbText:
    """What the page says about one verb.

    description, notes, output: paragraphs before the options, beside them, and those about JSON; entries: of each
    option, or kind, its head line and text; as_in: which verb tells about an option.
    """

    def __init__(self, part):
        self.description, self.notes, self.output, self.entries, self.as_in = [], [], [], {}, {}
        blocks = re.split(r"^\.([TP]P)\n", part, flags=re.MULTILINE)[1:]
        for macro, text in zip(blocks[::2], (text.strip() for text in blocks[1::2])):
            if macro == "TP":
                head, _, body = text.partition("\n")
                kind = re.match(r'\.BI "(\w+)', head)
                for name in OPTION.findall(plain(head)) if not kind else [kind.group(1)]:
                    self.entries[name] = (head, body)
            elif borrowed := AS_IN.search(text):
                self.as_in.update((name, borrowed.group(1)) for name in OPTION.findall(plain(text)))
            elif self.output or text.startswith("JSON"):
                self.output.append(text)
            elif text != "Kinds:":
                (self.notes if self.entries or self.as_in else self.description).append(text)

    def entry(self, option, texts):
        """Head and text of an option, here or where this verb refers to; None where the help must do."""
        for name in option["names"]:
            if name in self.entries:
                return self.entries[name]
            if name in self.as_in:
                return texts[self.as_in[name]].entry(option, {})
        return None


def head_of(option):
    """The line of an option that the page says nothing of: -o, --output TEXT."""
    names = ", ".join(f"\\fB{roff(name)}\\fR" for name in option["names"])
    value = "|".join(option["values"]) if option["closed"] else option["type"]
    return names + (f" \\fI{roff(value)}\\fR" if value else "")


def sentence(text):
    text = roff(text[0].upper() + text[1:])
    return text if text.endswith(".") else text + "."


def text_of(option):
    """What the help tells about an option."""
    text = sentence(option["help"])
    facts = [option["range"] and f"{roff(option['range'])}",
             option["default"] not in ("", "none") and f"{roff(option['default'])} by default",
             option["environment"] and f"also taken from {option['environment']}",
             option["required"] and not option["positional"] and "must be given"]
    facts = [fact for fact in facts if fact]
    return text + (f" ({'; '.join(facts)})" if facts else "")


def option_blocks(options, text, texts):
    shown, blocks = set(), []
    for option in options:
        head, body = text.entry(option, texts) or (head_of(option), text_of(option))
        if head not in shown:  # one that tells about several stands once
            blocks.append(f".TP\n{head}\n{body}")
        shown.add(head)
    return blocks


def synopsis(path, node):
    words = [f".B {' '.join(path)}"]
    for option in node["options"]:
        if option["required"] and not option["positional"]:
            words.append(f"{head_of(option)}")
    if node["below"]:
        words.append(".I KIND")
    words.append(".RI [ options ]")
    for option in node["options"]:
        if option["positional"]:
            name = option["names"][0] + ("..." if option["repeated"] else "")
            words.append(f".I {name}" if option["required"] else f".RI [ {name} ]")
    return "\n".join(words)


def examples(node):
    lines = node["footer"].split("Example:\n")[-1].splitlines()
    return ".nf\n.RS\n" + "\n".join(roff(line.strip()) for line in lines) + "\n.RE\n.fi"


def title(name, version):
    return f'.TH {name.upper()} 1 "" "sptile {version}" "User Commands"'


def verb_page(node, text, texts, common, version):
    """sptile-VERB(1)."""
    path = ["sptile", node["name"]]
    own = [option for option in node["options"] if not set(option["names"]) & common]
    positional = [option for option in own if option["positional"]]
    dashed = [option for option in own if not option["positional"]]
    sections = {
        "NAME": f"sptile\\-{node['name']} \\- {roff(node['summary'])}",
        "SYNOPSIS": synopsis(path, node),
        "DESCRIPTION": "\n.PP\n".join(text.description) or sentence(node["summary"]),
        "ARGUMENTS": "\n".join(f".TP\n.I {option['names'][0]}\n{text_of(option)}" for option in positional),
        "OPTIONS": "\n".join(option_blocks(dashed, text, texts) + ([".PP"] if dashed else []) + [
            "Those that every verb takes (\\fB\\-\\-json\\fR, \\fB\\-\\-threads\\fR and others) are in", ".BR sptile (1)."]),
        "KINDS": "\n".join(kind_block(kind, text) for kind in node["below"]),
        "NOTES": "\n.PP\n".join(text.notes),
        "OUTPUT": "\n.PP\n".join(text.output),
        "EXAMPLES": examples(node),
        "SEE ALSO": ".BR sptile (1)",
    }
    return title(f"sptile-{node['name']}", version) + "".join(
        f"\n.SH {name}\n{body}" for name, body in sections.items() if body) + "\n"


def kind_block(kind, text):
    head, body = text.entries.get(kind["name"], (f".B {kind['name']}", sentence(kind["summary"])))
    options = "\n".join(f".TP\n{head_of(option)}\n{text_of(option)}" for option in kind["options"]
                        if "--help" not in option["names"])
    return f".TP\n{head}\n{body}\n.RS\n{options}\n.RE"


def main_page(command, parts, version):
    """sptile(1): the parts of the page, with the list of verbs in place of what is said about each."""
    verbs = "\n".join(f".TP\n.BR sptile\\-{verb['name']} (1)\n{sentence(verb['summary'])}" for verb in command["below"])
    sections = {**parts, "VERBS": verbs}
    sections["SEE ALSO"] = ",\n".join(f".BR sptile\\-{verb['name']} (1)" for verb in command["below"])
    sections.pop("")
    return title("sptile", version) + "".join(f"\n.SH {name}\n{body}" for name, body in sections.items()) + "\n"


def main():
    sptile, page, folder, verbs = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3]), sys.argv[4:]
    told = subprocess.run([sptile, "completions", "bash", "--json"], check=True, capture_output=True, text=True)
    command = json.loads(told.stdout)["command"]
    version = subprocess.run([sptile, "--version"], check=True, capture_output=True, text=True).stdout.split()[1]
    parts = parts_of(page.read_text(), "SH")
    texts = {name: VerbText(text) for name, text in parts_of(parts["VERBS"], "SS").items() if name}
    names = [node["name"] for node in command["below"]]
    if sorted(names) != sorted(verbs) or sorted(names) != sorted(texts):
        sys.exit(f"verbs of the command: {sorted(names)}\nof the build: {sorted(verbs)}\nof {page}: {sorted(texts)}")
    common = set(OPTION.findall(plain(parts["COMMON OPTIONS"])))
    pages = {f"sptile-{node['name']}.1": verb_page(node, texts[node["name"]], texts, common, version)
             for node in command["below"]}
    pages["sptile.1"] = main_page(command, parts, version)
    for name, text in pages.items():
        (folder / name).write_text(text)


if __name__ == "__main__":
    main()
