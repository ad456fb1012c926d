#!/usr/bin/env python3
"""docs-pages.py SITE: writes SITE/pages, the same documentation as plain HTML.

DocC's own pages load their text with scripts, which browsers do not allow for local files. These pages have relative
links and no scripts, so they can be opened from a file manager or in a text browser, and printed.
"""
import html, json, os, sys

site = sys.argv[1]
data = os.path.join(site, "data")
STYLE = """body{font:16px/1.5 system-ui,sans-serif;max-width:52rem;margin:2rem auto;padding:0 1rem;color:#222;background:#fff}
pre,code{font-family:ui-monospace,monospace;font-size:.9em;background:#f5f5f5;border-radius:4px}code{padding:.1em .25em}
pre{padding:.8em;overflow-x:auto}pre code{padding:0;font-size:1em}a{color:#0b57b0;text-decoration:none}a:hover{text-decoration:underline}
table{border-collapse:collapse;margin:1em 0}td,th{border:1px solid #ccc;padding:.3em .6em;text-align:left;vertical-align:top}
nav,.role{color:#666}dt{margin-top:.6em}aside{border-left:4px solid #999;padding-left:1em}"""


class Page:
    def __init__(self, url, content):
        self.url, self.json, self.references = url, content, content.get("references", {})

    def link(self, url):
        url, _, anchor = url.partition("#")
        target = os.path.relpath("." + url + ".html", os.path.dirname("." + self.url))
        return html.escape(target + ("#" + anchor if anchor else ""), quote=True)

    def reference(self, identifier, code=False):
        found = self.references.get(identifier)
        if not found:
            return ""
        text = html.escape(found.get("title", identifier))
        if found.get("kind") == "symbol" or code:
            text = f"<code>{text}</code>"
        url = found.get("url")
        if not url:
            return text
        return f'<a href="{self.link(url) if url.startswith("/") else html.escape(url)}">{text}</a>'

    def inline(self, items):
        return "".join(map(self.inline_item, items or []))

    def inline_item(self, item):
        kind = item["type"]
        if kind == "text":
            return html.escape(item["text"])
        if kind == "codeVoice":
            return f"<code>{html.escape(item['code'])}</code>"
        if kind == "reference":
            return self.reference(item["identifier"])
        tag = {"emphasis": "em", "strong": "strong", "newTerm": "dfn"}.get(kind, "span")
        return f"<{tag}>{self.inline(item.get('inlineContent'))}</{tag}>"

    def blocks(self, items):
        return "\n".join(map(self.block, items or []))

    def block(self, item):
        kind = item["type"]
        if kind == "heading":
            return f"<h{item['level']} id=\"{html.escape(item['anchor'])}\">{html.escape(item['text'])}</h{item['level']}>"
        if kind == "paragraph":
            return f"<p>{self.inline(item['inlineContent'])}</p>"
        if kind == "codeListing":
            return "<pre><code>" + html.escape("\n".join(item["code"])) + "</code></pre>"
        if kind in ("unorderedList", "orderedList"):
            tag = "ul" if kind == "unorderedList" else "ol"
            return f"<{tag}>" + "".join(f"<li>{self.blocks(i['content'])}</li>" for i in item["items"]) + f"</{tag}>"
        if kind == "table":
            rows = item["rows"]
            cells = [[self.blocks(cell).replace("<p>", "").replace("</p>", "") for cell in row] for row in rows]
            head = "".join(f"<th>{cell}</th>" for cell in cells[0])
            return f"<table><tr>{head}</tr>" + "".join(
                "<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in cells[1:]) + "</table>"
        if kind == "aside":
            return f"<aside>{self.blocks(item['content'])}</aside>"
        raise SystemExit(f"{self.url}: no rule for a block of kind {kind}")

    def section(self, section):
        kind = section["kind"]
        if kind == "content":
            return self.blocks(section["content"])
        if kind == "declarations":
            lines = ["".join(token["text"] for token in one["tokens"]) for one in section["declarations"]]
            return "".join(f"<pre><code>{html.escape(line)}</code></pre>" for line in lines)
        if kind == "parameters":
            rows = "".join(f"<dt><code>{html.escape(one['name'])}</code></dt><dd>{self.blocks(one['content'])}</dd>"
                           for one in section["parameters"])
            return f"<h2>Parameters</h2><dl>{rows}</dl>"
        return ""

    def topics(self, key):
        parts = []
        for section in self.json.get(key, []):
            rows = "".join(
                f"<dt>{self.reference(one)}</dt><dd>{self.inline(self.references.get(one, {}).get('abstract'))}</dd>"
                for one in section["identifiers"])
            title = html.escape(section.get("title") or "")
            parts.append(f"<h3>{title}</h3><dl>{rows}</dl>")
        return "".join(parts)

    def text(self):
        meta = self.json["metadata"]
        path = self.json.get("hierarchy", {}).get("paths", [[]])[0]
        crumbs = " › ".join(self.reference(one) for one in path)
        body = "\n".join(map(self.section, self.json.get("primaryContentSections", [])))
        topics = self.topics("topicSections")
        title = html.escape(meta.get("title", ""))
        return f"""<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title>
<meta name="viewport" content="width=device-width"><style>{STYLE}</style>
<nav>{crumbs}</nav><p class="role">{html.escape(meta.get('roleHeading', ''))}</p><h1>{title}</h1>
<p>{self.inline(self.json.get('abstract'))}</p>
{body}
{'<h2>Topics</h2>' + topics if topics else ''}
{self.topics('relationshipsSections')}
"""


count = 0
modules = ""
for folder, _, names in os.walk(os.path.join(data, "documentation")):
    for name in sorted(names):
        path = os.path.join(folder, name)
        with open(path) as file:
            content = json.load(file)
        url = "/" + os.path.relpath(path, data)[:-len(".json")]
        page = Page(url, content)
        target = os.path.join(site, "pages" + url + ".html")
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with open(target, "w") as file:
            file.write(page.text())
        if content["metadata"].get("symbolKind") == "module":
            title = html.escape(content["metadata"]["title"])
            modules += f'<dt><a href="{url[1:]}.html">{title}</a></dt><dd>{page.inline(content.get("abstract"))}</dd>'
        count += 1
with open(os.path.join(site, "pages/index.html"), "w") as file:
    file.write(f"""<!doctype html><html lang="en"><meta charset="utf-8"><title>Zoetrope</title><style>{STYLE}</style>
<h1>Zoetrope</h1><dl>{modules}</dl>
""")
print(f"{count} pages in {site}/pages")
