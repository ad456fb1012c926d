#!/usr/bin/env python3
"""api-changes.py MODULE BASE NOW: fails if the symbol graphs in the folder NOW lack something of those in BASE.

It prints symbols that are gone, have another declaration, no longer conform to a protocol, cases added to an
enumeration, and requirements added to a protocol. What is only new is counted.
"""
import glob, json, os, sys


class Graph:
    def __init__(self, folder):
        self.symbols, self.conformances, self.members = {}, set(), set()
        for path in glob.glob(os.path.join(folder, "*.symbols.json")):
            with open(path) as file: graph = json.load(file)
            for symbol in graph["symbols"]:
                if symbol.get("accessLevel") in ("public", "open"): self.symbols[symbol["identifier"]["precise"]] = symbol
            for relation in graph["relationships"]:
                pair = relation["source"], relation.get("targetFallback") or relation["target"]
                if relation["kind"] == "conformsTo": self.conformances.add(pair)
                if relation["kind"] in ("memberOf", "requirementOf"): self.members.add((relation["kind"], relation["source"], relation["target"]))

    def name(self, identifier):
        symbol = self.symbols[identifier]
        return f"{symbol['kind']['displayName'].lower()} {'.'.join(symbol['pathComponents'])}"

    def declaration(self, identifier):
        """The declaration, types by their identifiers, so that one of the same name is another one."""
        fragments = self.symbols[identifier].get("declarationFragments", [])
        return "".join(fragment["spelling"] for fragment in fragments), [fragment.get("preciseIdentifier") for fragment in fragments]


def changes(base, now):
    for identifier in sorted(base.symbols, key=base.name):
        if identifier not in now.symbols:
            # The identifier holds the type, so one with other parameters is another symbol.
            yield f"{base.name(identifier)} is gone: {base.declaration(identifier)[0]}"
        elif base.declaration(identifier) != now.declaration(identifier):
            yield f"{base.name(identifier)} was {base.declaration(identifier)[0]}, is {now.declaration(identifier)[0]}"
    for source, target in sorted(base.conformances - now.conformances):
        if source in base.symbols and source in now.symbols: yield f"{base.name(source)} no longer conforms to {target}"
    for kind, source, target in sorted(now.members - base.members):
        if source in base.symbols or target not in base.symbols or source not in now.symbols: continue
        if kind == "requirementOf": yield f"{now.name(source)} is required now"
        elif now.symbols[source]["kind"]["identifier"] == "swift.enum.case": yield f"{now.name(source)} is a new case"


def main():
    module, base, now = sys.argv[1], Graph(sys.argv[2]), Graph(sys.argv[3])
    if not base.symbols or not now.symbols: sys.exit(f"{module}: no symbols")
    found = list(changes(base, now))
    new = len(now.symbols.keys() - base.symbols.keys())
    print(f"{module}: {len(base.symbols)} public symbols, {new} new, {len(found)} breaking changes")
    for change in found: print("  " + change)
    sys.exit(len(found) > 0)


if __name__ == "__main__":
    main()
