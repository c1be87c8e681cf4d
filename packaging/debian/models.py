#!/usr/bin/env python3
"""Which model files go into the package engram-models-open, and whose they are.

    models.py MODELS COPYRIGHT

prints the files of the first model of each job of the set `open` that lies in the folder MODELS, and writes COPYRIGHT in
Debian's machine-readable form: holders (model_holders.toml) and licences (licences/), which Apache and MIT want told.
"""

import os
import sys
import tomllib

here = os.path.dirname(os.path.abspath(__file__))


def load(*path):
    with open(os.path.join(here, *path), "rb") as file:
        return tomllib.load(file)


manifest = load("..", "..", "models", "manifest.toml")
holders = load("model_holders.toml")
models = {model["name"]: model for model in manifest["model"]}
sources = {source["file"]: source for source in manifest["source"]}
made = {name: export["needs"] for export in manifest["export"] for name in export["makes"]}


def origins(file):
    """The packages of registries that a file comes from, as it lies or by an export."""
    found = set()
    for name in made.get(file, [file]):
        source = sources.get(name, {})
        for registry in ("pip", "npm"):
            if registry in source:
                found.add(f"{registry}: {source[registry]}")
    return found


def paragraph(model):
    """Files, holders and licence of one model."""
    name = model["name"]
    if name not in holders:
        raise SystemExit(f"packaging/debian/model_holders.toml does not say who holds {name}")
    files = sorted(model["parts"].values())
    come_from = sorted(set().union(*(origins(file) for file in files)))
    converted = " (converted by models/export)" if any(file in made for file in files) else ""
    return "\n".join([
        "Files: " + "\n ".join(f"usr/share/engram/models/{file}" for file in files),
        "Copyright: " + "\n ".join(holders[name]),
        f"License: {model['licence']}",
        f"Comment: {model['about']}; from {', '.join(come_from)}{converted}",
        "",
    ])


def licence(name):
    """A licence as a paragraph of its own, as Debian writes it: a space before each line, a dot for an empty one."""
    path = os.path.join(here, "licences", name)
    if not os.path.exists(path):
        raise SystemExit(f"packaging/debian/licences has no {name}")
    with open(path, encoding="utf-8") as file:
        lines = file.read().strip().splitlines()
    return "\n".join([f"License: {name}", *(f" {line}" if line else " ." for line in lines), ""])


def there(name):
    """Whether all files of a model lie in the folder."""
    return all(os.path.exists(os.path.join(folder, part)) for part in models[name]["parts"].values())


folder, copyright_file = sys.argv[1:]
chosen = []
for job, names in manifest["sets"]["open"].items():
    first = next((name for name in names if there(name)), None)
    if first:
        chosen.append(models[first])
    elif names:
        raise SystemExit(f"no model for {job}: engramd models fetch --set open")
for file in sorted({part for model in chosen for part in model["parts"].values()}):
    print(file)
with open(copyright_file, "w", encoding="utf-8") as out:
    out.write("Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n")
    out.write("Upstream-Name: models of engramd's set open\n\n")
    for model in chosen:
        out.write(paragraph(model) + "\n")
    out.write("\n".join(licence(name) for name in sorted({model["licence"] for model in chosen})))
