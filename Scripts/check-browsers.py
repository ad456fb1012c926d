#!/usr/bin/env python3
"""Compares the predictions of `zoetrope explain` for browsers with how browsers decode every fixture.

  check-browsers.py ZOETROPE [--in firefox,chromium]

A page opens each undamaged fixture with several frames in the browser's ImageDecoder, and reports how often it plays
and, in Firefox, how long each frame is shown; Chromium's decoder returns the stored delays. A browser that is not
installed is reported and skipped.
"""
import argparse, glob, http.server, json, os, shutil, signal, struct, subprocess, sys, tempfile, threading

FIXTURES = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "Fixtures")
COMMANDS = {
    "firefox": (["firefox", "firefox-esr"], ["--headless", "--no-remote", "--profile", "{profile}"]),
    "chromium": (["chromium", "chromium-browser", "google-chrome"], ["--headless=new", "--no-sandbox", "--disable-gpu", "--user-data-dir={profile}"]),
}
PAGE = """<script>
async function read(name) {
  const data = await (await fetch("/file/" + name)).arrayBuffer();
  const decoder = new ImageDecoder({data, type: name.endsWith(".gif") ? "image/gif" : "image/png"});
  await decoder.tracks.ready;
  await decoder.completed;
  const track = decoder.tracks.selectedTrack, durations = [];
  for (let frameIndex = 0; frameIndex < track.frameCount; frameIndex++) {
    // Firefox counts a static image that is not a frame, but has no picture after the last frame.
    const {image} = await decoder.decode({frameIndex}).catch(() => ({}));
    if (!image) break;
    durations.push(image.duration);
    image.close();
  }
  return {repeats: String(track.repetitionCount), durations};
}
(async () => {
  const results = {};
  for (const name of NAMES) results[name] = await read(name).catch(error => ({error: String(error)}));
  await fetch("/results", {method: "POST", body: JSON.stringify(results)});
})();
</script>"""


def serve(names):
    """A server for the page and the fixtures, and the event and the list that receive the results."""
    results, done = [], threading.Event()

    class Handler(http.server.BaseHTTPRequestHandler):
        def log_message(self, *arguments): pass

        def answer(self, body, type="application/octet-stream"):
            self.send_response(200)
            self.send_header("Content-Type", type)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_GET(self):
            name = self.path.removeprefix("/file/")
            if name in names:
                with open(os.path.join(FIXTURES, name), "rb") as file: return self.answer(file.read())
            self.answer(PAGE.replace("NAMES", json.dumps(names)).encode() if self.path == "/" else b"", "text/html")

        def do_POST(self):
            results.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.answer(b"")
            done.set()

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server, done, results


def ask(browser, program, names):
    server, done, results = serve(names)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        with open(profile + "/user.js", "w") as file: file.write('user_pref("dom.media.webcodecs.image-decoder.enabled", true);\n')
        command = [program, *[word.replace("{profile}", profile) for word in COMMANDS[browser][1]], f"http://127.0.0.1:{server.server_port}/"]
        process = subprocess.Popen(command, env=dict(os.environ, HOME=profile), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        try:
            if not done.wait(180): sys.exit(f"{browser} does not answer")
        finally:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            server.shutdown()
    return results[0]


def lines(zoetrope, *arguments):
    output = subprocess.run([zoetrope, *arguments], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
    return [json.loads(line) for line in output.splitlines()]


def problems(browser, name, explained, stored, result):
    """The differences from the prediction."""
    if "error" in result: return [result["error"]]
    found, prediction = [], explained["programs"][0]
    # The count is a 32-bit float.
    repeats = "inf" if prediction["forever"] else str(struct.unpack("f", struct.pack("f", prediction["plays"] - 1))[0])
    if float(result["repeats"]) != float(repeats): found.append(f"repeats {result['repeats']} times, not {repeats}")
    if len(result["durations"]) != len(stored): return found + [f"{len(result['durations'])} frames, not {len(stored)}"]
    if browser == "chromium": return found
    shown = [frame["stored_ms"] for frame in stored]
    for change in prediction["changed_delays"]: shown[change["frame"]] = change["shown_ms"]
    for index, (duration, expected) in enumerate(zip(result["durations"], shown)):
        if duration is None or abs(duration / 1000 - expected) > .0011: found.append(f"frame {index} for {duration} µs, not {expected} ms")
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("zoetrope")
    parser.add_argument("--in", dest="browsers", default="firefox,chromium")
    options = parser.parse_args()
    for browser in options.browsers.split(","):
        if browser not in COMMANDS: parser.error(f"no browser is called {browser!r}; there are {', '.join(COMMANDS)}")
    files = sorted(file for folder in ["APNG", "Demo", "GIF"] for file in glob.glob(f"{FIXTURES}/{folder}/*"))
    stored = {}
    for file, line in zip(files, lines(options.zoetrope, "info", "--json", "--frames", *files)):
        if "error" not in line and not line["damage"] and line["frame_count"] > 1: stored[os.path.relpath(file, FIXTURES)] = line["frames"]
    names = list(stored)
    failures = 0
    for browser in options.browsers.split(","):
        program = next(filter(None, map(shutil.which, COMMANDS[browser][0])), None)
        if not program:
            print(f"{browser}: left out, not installed")
            continue
        explained = lines(options.zoetrope, "explain", "--json", "--as", browser, *[os.path.join(FIXTURES, name) for name in names])
        results = ask(browser, program, names)
        wrong = {name: found for name, line in zip(names, explained) if (found := problems(browser, name, line, stored[name], results[name]))}
        version = subprocess.run([program, "--version"], capture_output=True, text=True).stdout.strip()
        print(f"{version}: {len(names)} animations, {len(wrong)} not as predicted")
        for name, found in wrong.items(): print(f"  {name}: {'; '.join(found)}")
        failures += len(wrong)
    sys.exit(failures > 0)


if __name__ == "__main__":
    main()
