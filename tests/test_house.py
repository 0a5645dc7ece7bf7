"""The house stays in order: small files, small classes, nothing said twice, names in one place."""

import ast
import re
from collections import defaultdict
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src" / "paceline"
FILES = sorted(SOURCE.rglob("*.py"))
MOST_LINES = 310
MOST_FIELDS = 15
SHARED_LINES = 12


def test_no_file_is_so_long_that_it_needs_a_table_of_contents() -> None:
    lines = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in FILES}
    assert {str(path): count for path, count in lines.items() if count > MOST_LINES} == {}


def fields_of(node: ast.ClassDef) -> set[str]:
    """What instances of a class have: fields that are declared, and what its methods assign."""
    declared = {
        one.target.id
        for one in node.body
        if isinstance(one, ast.AnnAssign)
        and isinstance(one.target, ast.Name)
        and not ast.unparse(one.annotation).startswith("ClassVar")
    }
    assigned = {
        one.attr
        for one in ast.walk(node)
        if isinstance(one, ast.Attribute)
        and isinstance(one.ctx, ast.Store)
        and isinstance(one.value, ast.Name)
        and one.value.id == "self"
    }
    return declared | assigned


def test_no_class_outside_core_and_theory_has_many_fields() -> None:
    found = {}
    for path in FILES:
        if path.relative_to(SOURCE).parts[0] in ("core", "theory"):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef) and len(fields_of(node)) > MOST_FIELDS:
                found[f"{path.name}: {node.name}"] = len(fields_of(node))
    assert found == {}


def code_lines(path: Path) -> list[str]:
    """Without blanks, comments and imports, which may well be the same."""
    text = re.sub(r"^from .*? import \([^)]*\)$", "", path.read_text(encoding="utf-8"), flags=re.M)
    lines = (line.strip() for line in text.splitlines())
    return [line for line in lines if line and not re.match(r"#|import |from ", line)]


def shared_lines() -> list[tuple[str, str]]:
    seen: dict[tuple[str, ...], set[str]] = defaultdict(set)
    for path in FILES:
        lines = code_lines(path)
        for start in range(len(lines) - SHARED_LINES + 1):
            seen[tuple(lines[start : start + SHARED_LINES])].add(str(path.relative_to(SOURCE)))
    return sorted({(min(where), max(where)) for where in seen.values() if len(where) > 1})


def test_no_two_files_share_a_dozen_lines() -> None:
    assert shared_lines() == []


def test_engines_are_known_by_name_in_their_catalog_only() -> None:
    """Else a new one would have to be told to everybody. Only defaults name one."""
    naming = re.compile(r"""["']local["']|engines\.local|LocalEngine""")
    found = []
    for path in FILES:
        place = path.relative_to(SOURCE)
        if place.parts[0] == "engines":
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            if naming.search(line):
                found.append(f"{place}:{number}: {line.strip()}")
    default = re.compile(
        r'engine: (str \| Engine \| Executor|Any) = "local"|^.*: "local",$|engine\\?": "local"'
    )
    assert [line for line in found if not default.search(line)] == []
