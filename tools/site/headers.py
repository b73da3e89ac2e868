#!/usr/bin/env python3
"""Prints the reference of C or C++ headers as Markdown: each declaration with the comment before it.

    headers.py TITLE HEADER...

A comment without a declaration, at the start of a header, introduces it. `/* ---- Name ---- */` starts a section.
Private members, function bodies and names in `detail` are left out.
"""
import pathlib
import re
import sys

C_COMMENT = re.compile(r"/\*(.*?)\*/", re.DOTALL)
SECTION = re.compile(r"^-{2,} (.*?) -{2,}$")
NAME = (
    re.compile(r"^(?:typedef )?(?:enum class|struct|enum|class)\s+(\w+)"),
    re.compile(r"^#define\s+(\w+)"),
    re.compile(r"^typedef .*\(\*(\w+)\)"),
    re.compile(r"([~\w]+)\s*\("),
)


def text_of(comment):
    """Returns the text of a comment without its marks."""
    lines = [re.sub(r"^\s*(\*|///?)? ?", "", line).rstrip() for line in comment.strip().splitlines()]
    return "\n".join(lines).strip()


def name_of(declaration):
    """Returns the name that a declaration introduces."""
    for pattern in NAME:
        if match := pattern.search(declaration):
            return match[1]
    return None


def without_body(declaration):
    """Removes the body and the initializers of a C++ function; keeps those of structs and enums."""
    if re.match(r"(typedef |template\s*<.*?>\s*)?(struct|enum|class)\b", declaration, re.DOTALL):
        return declaration
    depth = 0
    for at, letter in enumerate(declaration):
        depth += (letter in "(<") - (letter in ")>")
        if depth == 0 and (letter == "{" or (letter == ":" and declaration[at - 1 : at + 2] not in (" ::",) and
                                             declaration[at + 1 : at + 2] != ":" and declaration[at - 1] != ":")):
            return declaration[:at].rstrip() + ";"
    return declaration


def statements(code):
    """Yields (comment, declaration) at the outer level of `code`, which has no includes."""
    at, comment = 0, ""
    while at < len(code):
        if code[at].isspace():
            if code.startswith("\n\n", at):
                if comment:
                    yield comment, ""
                comment = ""
            at += 1
            continue
        if match := re.compile(r"/\*.*?\*/", re.DOTALL).match(code, at):
            comment, at = text_of(match[0][2:-2]), match.end()
            continue
        if match := re.compile(r"(?:[ \t]*//[^\n]*\n)+").match(code, at):
            comment, at = text_of(match[0]), match.end()
            continue
        start, depth = at, 0
        if code[at] == "#":
            while at < len(code) and not (code[at] == "\n" and code[at - 1] != "\\"):
                at += 1
        else:
            while at < len(code):
                if code.startswith("/*", at):
                    at = code.index("*/", at) + 2
                    continue
                if code.startswith("//", at):
                    at = code.index("\n", at)
                    continue
                depth += (code[at] in "{(") - (code[at] in "})")
                at += 1
                if depth == 0 and (code[at - 1] == ";" or (code[at - 1] == "}" and code[at : at + 1] == "\n")):
                    break
        # A comment on the same line belongs to the declaration.
        end = code.find("\n", at)
        if re.match(r"\s*(/\*|///)", code[at:end]) and code[at:end].count("/*") == code[at:end].count("*/"):
            at = end
        yield comment, code[start:at].strip()
        comment = ""


def c_reference(code):
    """Yields Markdown lines for a C header."""
    code = re.sub(r"^#(?!define SPTILE_).*$|^extern \"C\" \{$|^\}$", "", code, flags=re.MULTILINE)
    for comment, declaration in statements(code):
        if section := SECTION.match(comment.strip()):
            yield f"## {section[1]}\n"
        elif not declaration:
            yield comment + "\n"
        elif name := name_of(declaration):
            if declaration.startswith("#define") and name.endswith("_INIT"):
                continue
            yield f"### `{name}`\n\n{comment + chr(10) * 2 if comment else ''}```c\n{declaration}\n```\n"


def members(body):
    """Yields (comment, declaration) of the public members of a class."""
    public = body.split("\n private:")[0]
    public = re.sub(r"^ public:$", "", public, flags=re.MULTILINE)
    for comment, declaration in statements(public):
        if declaration:
            yield comment, without_body(re.sub(r"\[\[nodiscard\]\] ?", "", declaration))


def cpp_reference(code):
    """Yields Markdown lines for a C++ header with one namespace."""
    introduction = re.match(r"((?://[^\n]*\n)+)", code)
    yield text_of(introduction[1]).replace("\n  ", "\n      ") + "\n"
    code = code[code.index("inline namespace v1 {") + len("inline namespace v1 {") : code.rindex("}  // namespace v1")]
    code = re.sub(r"namespace detail \{.*?\}  // namespace detail", "", code, flags=re.DOTALL)
    for comment, declaration in statements(code):
        if not declaration or re.fullmatch(r"(class|struct) \w+;", declaration):
            continue
        name = name_of(declaration)
        if not declaration.startswith("class") or "{" not in declaration:
            plain = re.sub(r"\n\n  .*?(?=\n\};)", "", declaration, flags=re.DOTALL) if "template" in declaration else declaration
            yield f"## `{name}`\n\n{comment}\n\n```cpp\n{plain}\n```\n"
            continue
        yield f"## `{name}`\n\n{comment}\n"
        for text, member in members(declaration[declaration.index("{") + 1 : declaration.rindex("}")]):
            member = re.sub(r"^  ", "", member, flags=re.MULTILINE)
            title = name_of(re.sub(r"^template\s*<.*?>\s*(?=\w)", "", member, flags=re.DOTALL)) or member
            yield f"### `{name}::{title}`\n\n{text + chr(10) * 2 if text else ''}```cpp\n{member}\n```\n"


def main():
    print(f"# {sys.argv[1]}\n")
    for header in map(pathlib.Path, sys.argv[2:]):
        code = header.read_text()
        reference = cpp_reference(code) if header.suffix == ".hpp" else c_reference(code)
        if len(sys.argv) > 3:
            print(f"## {header.name}\n")
        print("\n".join(reference))


if __name__ == "__main__":
    main()
