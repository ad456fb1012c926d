#!/bin/bash
# docs.sh: builds the documentation of the three libraries as one site in .build/docs/site. Warnings, such as broken
# links, and public symbols without a comment are errors.
#
#     python3 -m http.server -d .build/docs/site 8000     # then http://localhost:8000/documentation/
#     xdg-open .build/docs/site/pages/index.html          # the same text as plain pages, without a server
#
# SITE_PATH=/zoetrope sets the path of the site on a server. Does not use the DocC plugin, which documents one module:
# most of Zoetrope's API is declared in the modules that it re-exports.
set -euo pipefail
cd "$(dirname "$0")/.."

build=${BUILD:-.build}
docs=$build/docs
archives=()
for module in Zoetrope ZoetropeTerminal ZoetropeTestSupport; do
  graphs=$docs/$module.graphs
  Scripts/symbol-graphs.sh "$module" "$build" "$graphs"
  python3 Scripts/docs-coverage.py "$graphs"
  folder=Sources/$module
  [ -d "$folder" ] || folder=Tests/$module
  catalog=$folder/$module.docc
  docc convert "$catalog" --additional-symbol-graph-dir "$graphs" --warnings-as-errors \
    --fallback-display-name "$module" --fallback-bundle-identifier "zoetrope.$module" \
    --transform-for-static-hosting --hosting-base-path "${SITE_PATH:-/}" \
    --output-path "$docs/$module.doccarchive"
  archives+=("$docs/$module.doccarchive")
done
rm -rf "$docs/site"
docc merge "${archives[@]}" --synthesized-landing-page-name Zoetrope --output-path "$docs/site"
# DocC creates no page at the root of the site.
cat >"$docs/site/index.html" <<'END'
<!doctype html><meta charset="utf-8"><title>Zoetrope</title>
<script>location.replace(location.protocol === "file:" ? "pages/index.html" : "documentation/")</script>
<a href="pages/index.html">Documentation</a>
END
python3 Scripts/docs-pages.py "$docs/site"
