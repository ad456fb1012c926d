internal import Glibc
internal import SystemPackage

/// Reads the texts that ``MemoryFacts`` parses. `root` stands before every path, for tests.
package struct MachineMemory: Sendable {
  private let root: String
  /// Folders of this process's group and those above it, innermost first; empty when none is found.
  private let groupFolders: [String]
  private let isVersion2: Bool

  package init(root: String = "") {
    self.root = root
    guard let group = Self.text(root + "/proc/self/cgroup").flatMap(MemoryFacts.controlGroup)
    else {
      (groupFolders, isVersion2) = ([], false)
      return
    }
    isVersion2 = group.isVersion2
    let mount = root + "/sys/fs/cgroup" + (group.isVersion2 ? "" : "/memory")
    // Inside a container the path of the outer world is not there; its own group is the mount.
    groupFolders = MemoryFacts.ancestors(of: group.path).map { mount + $0 }
  }

  /// Bytes that this process may use: the tightest of its groups' limits and the machine's memory.
  package var byteLimit: Int {
    let names = isVersion2 ? ["memory.max", "memory.high"] : ["memory.limit_in_bytes"]
    let limits = groupFolders.flatMap { folder in
      names.compactMap { Self.text("\(folder)/\($0)").flatMap { MemoryFacts.byteCount($0) } }
    }
    return min(limits.min() ?? .max, Self.physicalBytes)
  }

  /// What there is to know now.
  package func read() -> MemoryReading {
    var reading = MemoryReading()
    let group = groupFolders.first
    let stall =
      (isVersion2 ? group.flatMap { Self.text($0 + "/memory.pressure") } : nil)
      ?? Self.text(root + "/proc/pressure/memory")
    if let stall = stall.flatMap(MemoryFacts.stall) {
      reading.someStall = stall.some
      reading.fullStall = stall.full
    }
    guard let group else { return reading }
    if isVersion2 {
      let events = Self.text(group + "/memory.events").map(MemoryFacts.events)
      reading.highEvents = events?["high"]
      reading.maxEvents = events.map { ($0["max"] ?? 0) + ($0["oom"] ?? 0) }
    } else {
      reading.maxEvents = number(group + "/memory.failcnt")
    }
    // File pages that nobody used lately are given up before anything hurts.
    let idle = Self.text(group + "/memory.stat").map(MemoryFacts.events)?[
      isVersion2 ? "inactive_file" : "total_inactive_file"]
    reading.usage = number(group + (isVersion2 ? "/memory.current" : "/memory.usage_in_bytes"))
      .map { max($0 - (idle ?? 0), 0) }
    reading.limit = number(group + (isVersion2 ? "/memory.max" : "/memory.limit_in_bytes"))
    return reading
  }

  private func number(_ path: String) -> Int? {
    Self.text(path).flatMap { MemoryFacts.byteCount($0) }
  }

  private static var physicalBytes: Int {
    let pages = sysconf(Int32(_SC_PHYS_PAGES))
    let page = sysconf(Int32(_SC_PAGESIZE))
    return pages > 0 && page > 0 ? pages * page : 1 << 30
  }

  /// The text of a small file; nil when it cannot be read.
  private static func text(_ path: String) -> String? {
    guard let file = try? FileDescriptor.open(FilePath(path), .readOnly, options: .closeOnExec)
    else { return nil }
    defer { try? file.close() }
    var bytes = [UInt8](repeating: 0, count: 4096)
    let count = unsafe bytes.withUnsafeMutableBytes { buffer in
      (try? unsafe file.read(into: buffer)) ?? 0
    }
    return String(decoding: bytes.prefix(count), as: UTF8.self)
  }
}

extension MemoryBudget {
  /// The limit of a budget that is given none: a quarter of the memory that this process may use
  /// (the tightest of its control groups' limits and the machine's), at least 16 MiB, at most 512 MiB.
  ///
  /// A quarter leaves room for the program that only happens to show pictures. Past 512 MiB, 128
  /// canvases of a megapixel, decoding again at hundreds of megapixels a second costs less than what
  /// the memory could do elsewhere. Below 16 MiB not even one large canvas with its checkpoints fits.
  public static let defaultByteLimit = defaultByteLimit(of: MachineMemory().byteLimit)

  package static func defaultByteLimit(of memory: Int) -> Int {
    min(max(memory / 4, 16 << 20), 512 << 20)
  }
}
