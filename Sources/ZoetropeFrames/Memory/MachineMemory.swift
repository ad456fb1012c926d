internal import Glibc

/// Reads the files that ``MemoryFacts`` parses. Every path is prefixed with `root`, which is empty except in tests.
package struct MachineMemory: Sendable {
  private let root: String
  private let group: ControlGroup
  private var groupFolders: [String] { group.folders }
  private var isVersion2: Bool { group.isVersion2 }

  package init(root: String = "") {
    self.root = root
    group = ControlGroup(of: "memory", root: root)
  }

  /// The number of bytes that this process may use: the size of the machine's memory or the lowest limit of the
  /// process's control groups, whichever is less.
  package var byteLimit: Int {
    min(groupFolders.compactMap(limit).min() ?? .max, Self.physicalBytes)
  }

  /// Reads the current memory figures and returns them.
  ///
  /// Ancestors of the process's control group may set limits too. Usage and limit are those of the group that has the
  /// least room.
  package func read() -> MemoryReading {
    var reading = MemoryReading()
    let stall =
      (isVersion2 ? first { ControlGroup.text($0 + "/memory.pressure") } : nil)
      ?? ControlGroup.text(root + "/proc/pressure/memory")
    if let stall = stall.flatMap(MemoryFacts.stall) {
      reading.someStall = stall.some
      reading.fullStall = stall.full
    }
    if isVersion2 {
      // These counters include the events of descendant groups.
      let events = first { ControlGroup.text($0 + "/memory.events") }.map(MemoryFacts.events)
      reading.highEvents = events?["high"]
      reading.maxEvents = events.map { ($0["max"] ?? 0) + ($0["oom"] ?? 0) }
    } else {
      reading.maxEvents = first { number($0 + "/memory.failcnt") }
    }
    for folder in groupFolders {
      guard let limit = limit(of: folder), let usage = usage(of: folder) else { continue }
      if let known = reading.limit, let used = reading.usage, known - used <= limit - usage.total {
        continue
      }
      reading.limit = limit
      reading.usage = usage.total
      reading.filePages = usage.filePages
    }
    return reading
  }

  /// Returns the result of `read` for the innermost group for which the result is not nil, or nil if there is none. In
  /// a container, the directory of the process's own group may be the mount point itself.
  private func first<Value>(_ read: (String) -> Value?) -> Value? {
    for folder in groupFolders {
      if let value = read(folder) { return value }
    }
    return nil
  }

  /// Returns the number of bytes that a group may use before its processes are throttled or killed, or nil if the group
  /// has no limit.
  private func limit(of folder: String) -> Int? {
    let names = isVersion2 ? ["memory.max", "memory.high"] : ["memory.limit_in_bytes"]
    return names.compactMap { number("\(folder)/\($0)") }.min()
  }

  /// Returns the number of bytes that a group uses, excluding inactive file pages, which the kernel reclaims first.
  /// `filePages` is the part of this number that is active file pages.
  private func usage(of folder: String) -> (total: Int, filePages: Int)? {
    guard let all = number(folder + (isVersion2 ? "/memory.current" : "/memory.usage_in_bytes"))
    else { return nil }
    let facts = ControlGroup.text(folder + "/memory.stat").map(MemoryFacts.events) ?? [:]
    let prefix = isVersion2 ? "" : "total_"
    let total = max(all - (facts[prefix + "inactive_file"] ?? 0), 0)
    return (total, min(facts[prefix + "active_file"] ?? 0, total))
  }

  private func number(_ path: String) -> Int? {
    ControlGroup.text(path).flatMap { MemoryFacts.byteCount($0) }
  }

  private static var physicalBytes: Int {
    let pages = sysconf(Int32(_SC_PHYS_PAGES))
    let page = sysconf(Int32(_SC_PAGESIZE))
    return pages > 0 && page > 0 ? pages * page : 1 << 30
  }
}
