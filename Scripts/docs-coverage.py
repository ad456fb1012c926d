#!/usr/bin/env python3
"""docs-coverage.py GRAPHS: fails if a public symbol of a module's symbol graphs has no documentation comment."""
import glob, json, os, sys

missing = count = 0
for path in glob.glob(os.path.join(sys.argv[1], "*.symbols.json")):
    with open(path) as file:
        graph = json.load(file)
    for symbol in graph["symbols"]:
        # Inherited and synthesized symbols have no location in our sources.
        if "location" not in symbol or symbol.get("accessLevel") not in ("public", "open"):
            continue
        if not symbol["location"]["uri"].startswith("file://") or "/checkouts/" in symbol["location"]["uri"]:
            continue
        count += 1
        lines = symbol.get("docComment", {}).get("lines", [])
        if not any(line["text"].strip() for line in lines):
            missing += 1
            place = symbol["location"]
            print(f"{os.path.relpath(place['uri'][7:])}:{place['position']['line'] + 1}: "
                  f"{'.'.join(symbol['pathComponents'])} is not documented", file=sys.stderr)
print(f"{count} public symbols are documented" if not missing else f"{missing} of {count} are not documented")
sys.exit(1 if missing else 0)
