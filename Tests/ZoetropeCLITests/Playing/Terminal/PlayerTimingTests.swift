import SystemPackage
import TestRunning
import Testing

/// Plays and delays on a terminal are those of the file, for animated PNG too.
@Suite(.timeLimit(.minutes(10)), .runsPrograms) struct PlayerTimingTests {
  private func fixture(_ name: String) throws -> [UInt8] {
    var path = FilePath(#filePath)
    for _ in 0..<5 { path.removeLastComponent() }
    let file = try FileDescriptor.open(path.appending("Fixtures/APNG/\(name)"), .readOnly)
    return try file.closeAfter {
      var bytes = [UInt8](repeating: 0, count: 65536)
      let count = try unsafe bytes.withUnsafeMutableBytes { unsafe try file.read(into: $0) }
      return Array(bytes[..<count])
    }
  }

  /// The whole numbers that JSON has under `key`.
  private func numbers(_ key: String, in json: String) -> [Int] {
    json.components("\"\(key)\":").dropFirst().compactMap { part in
      Int(part.prefix { $0.isNumber })
    }
  }

  @Test func `a file that says five plays is played five times, then stays`() throws {
    let session = try PlayerSession(
      ["--trace", "trace.json"], files: ["five.png": try fixture("plays-5.png")])
    try #require(session.terminal.waitToShow("loop 5/5"))
    try #require(session.terminal.waitToShow("■"))
    session.terminal.type("q")
    #expect(session.terminal.end() == 0)
    let json = String(decoding: try session.tool.read("trace.json"), as: UTF8.self)
    session.tool.cleanUp()
    let deadlines = numbers("deadline", in: json)
    let plays = numbers("play", in: json)
    let indices = numbers("index", in: json)
    #expect(plays.last == 4 && indices.last == 1)
    // Ten frames of 100 ms, each at its own time whether or not those before it were late.
    for ((play, index), deadline) in zip(zip(plays, indices), deadlines) {
      #expect(deadline - deadlines[0] == (play * 2 + index) * 100_000_000)
    }
  }

  @Test func `each frame has the delay it stores`() throws {
    let session = try PlayerSession(
      ["--once", "--timing", "exact", "--speed", "20", "--trace", "trace.json"],
      files: ["many.png": try fixture("many-frames.png")])
    #expect(session.terminal.end() == 0)
    let json = String(decoding: try session.tool.read("trace.json"), as: UTF8.self)
    let info = try session.tool.run("info", "--json", "--timing", "exact", "many.png").text
    session.tool.cleanUp()
    let starts = numbers("start_ms", in: info)
    let indices = numbers("index", in: json)
    let deadlines = numbers("deadline", in: json)
    // However many are skipped on a busy machine, the first and the last are shown.
    #expect(starts.count == 40 && indices.first == 0 && indices.last == 39)
    for (index, deadline) in zip(indices, deadlines) {
      let milliseconds = Double(deadline - deadlines[0]) / 1e6 * 20
      #expect(abs(milliseconds - Double(starts[index])) <= 1.1)
    }
  }
}

extension String {
  /// The parts between occurrences of `separator`.
  fileprivate func components(_ separator: String) -> [String] {
    var parts: [String] = [""]
    var rest = self[...]
    while let start = rest.firstRange(of: separator) {
      parts[parts.count - 1] += rest[..<start.lowerBound]
      parts.append("")
      rest = rest[start.upperBound...]
    }
    parts[parts.count - 1] += rest
    return parts
  }
}
