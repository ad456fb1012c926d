#!/usr/bin/env python3
"""api-list.py GRAPHS: prints the public symbols in a folder of symbol graphs, and their conformances, one per line."""
import glob, json, os, sys

symbols, lines = {}, set()
# Every type conforms to these, unless its declaration says otherwise.
IMPLIED = {"Swift.Copyable", "Swift.Escapable", "Swift.SendableMetatype"}
for path in glob.glob(os.path.join(sys.argv[1], "*.symbols.json")):
    with open(path) as file: graph = json.load(file)
    for symbol in graph["symbols"]:
        if symbol["accessLevel"] not in ("public", "open"): continue
        name = symbols[symbol["identifier"]["precise"]] = ".".join(symbol["pathComponents"])
        declaration = "".join(fragment["spelling"] for fragment in symbol.get("declarationFragments", []))
        lines.add(f"{name}: {' '.join(declaration.split())}")
    required = {r["source"] for r in graph["relationships"] if r["kind"] == "requirementOf"}
    for relation in graph["relationships"]:
        name = symbols.get(relation["source"])
        target = relation.get("targetFallback") or symbols.get(relation["target"], relation["target"])
        if relation["kind"] == "conformsTo" and name and target not in IMPLIED: lines.add(f"{name}: {target}")
        if relation["kind"] == "requirementOf" and name: lines.add(f"{name}: required")
print("\n".join(sorted(lines)))
