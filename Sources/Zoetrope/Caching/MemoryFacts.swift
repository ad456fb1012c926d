/// Parsers of what Linux says about memory in `/proc` and `/sys/fs/cgroup`. Pure functions of texts.
package enum MemoryFacts {
  /// A number as control-group files hold it; nil for `max`, for the 2⁶³ of version 1 that means the
  /// same, and for anything else that is not a count of bytes.
  package static func byteCount(_ text: some StringProtocol) -> Int? {
    guard let value = Int(text.trimmingWhitespace), value >= 0, value < 1 << 60 else { return nil }
    return value
  }

  /// The control group of this process from `/proc/self/cgroup`: its path, and whether the hierarchy
  /// is version 2. The memory controller of version 1 wins where both are mounted, because a
  /// controller is in one of them only.
  package static func controlGroup(_ text: String) -> (path: String, isVersion2: Bool)? {
    var unified: String?
    for line in text.split(whereSeparator: \.isNewline) {
      let fields = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
      guard fields.count == 3 else { continue }
      if fields[1].split(separator: ",").contains("memory") { return (String(fields[2]), false) }
      if fields[0] == "0", fields[1].isEmpty { unified = String(fields[2]) }
    }
    return unified.map { ($0, true) }
  }

  /// `path` and the groups above it, innermost first: each of them may set a limit.
  package static func ancestors(of path: String) -> [String] {
    var parts = path.split(separator: "/").map(String.init)
    // `..` leads out of the group's namespace, where nothing is mounted.
    if parts.contains("..") { parts = [] }
    return (0...parts.count).reversed().map { count in
      parts.prefix(count).map { "/" + $0 }.joined()
    }
  }

  /// The counters of `memory.events`, by name.
  package static func events(_ text: String) -> [String: Int] {
    var counters: [String: Int] = [:]
    for line in text.split(whereSeparator: \.isNewline) {
      let fields = line.split(separator: " ")
      guard fields.count == 2, let value = Int(fields[1]) else { continue }
      counters[String(fields[0])] = value
    }
    return counters
  }

  /// The ten-second averages of a pressure-stall file: the share of time, in per cent, in which some
  /// or all tasks waited for memory.
  package static func stall(_ text: String) -> (some: Double, full: Double)? {
    var some: Double?
    var full: Double?
    for line in text.split(whereSeparator: \.isNewline) {
      let fields = line.split(separator: " ")
      guard let average = fields.first(where: { $0.hasPrefix("avg10=") }),
        let value = Double(average.dropFirst(6)), value.isFinite
      else { continue }
      if fields.first == "some" { some = value }
      if fields.first == "full" { full = value }
    }
    return some.map { ($0, full ?? 0) }
  }
}

extension StringProtocol {
  fileprivate var trimmingWhitespace: SubSequence {
    guard let first = firstIndex(where: { !$0.isWhitespace }),
      let last = lastIndex(where: { !$0.isWhitespace })
    else { return self[endIndex...] }
    return self[first...last]
  }
}
