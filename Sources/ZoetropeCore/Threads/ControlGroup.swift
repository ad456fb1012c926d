internal import SystemPackage

/// The control group of this process for one controller, and the groups above it.
package struct ControlGroup: Sendable {
  /// Directories of the group and its ancestors, innermost first; empty if none is found. Each may set limits.
  package let folders: [String]
  package let isVersion2: Bool

  /// - Parameter root: Prefixes every path, for tests.
  package init(of controller: String, root: String = "") {
    guard
      let group = Self.text(root + "/proc/self/cgroup").flatMap({
        Self.group(of: controller, in: $0)
      })
    else {
      (folders, isVersion2) = ([], false)
      return
    }
    isVersion2 = group.isVersion2
    let mount = root + "/sys/fs/cgroup" + (group.isVersion2 ? "" : "/\(controller)")
    // Inside a container the host's path does not exist; the container's own group is the mount.
    folders = Self.ancestors(of: group.path).map { mount + $0 }
  }

  /// Processors that the process may use, by the lowest quota of processor time; nil without a quota.
  ///
  /// More threads would use up the quota of a period early, and then all stand still until the next one.
  package var processorQuota: Int? {
    folders.compactMap { folder -> Int? in
      let names = isVersion2 ? ["cpu.max"] : ["cpu.cfs_quota_us", "cpu.cfs_period_us"]
      let text = names.compactMap { Self.text("\(folder)/\($0)") }.joined(separator: " ")
      return Self.processorCount(text)
    }.min()
  }

  /// The processors of a quota and its period in microseconds, rounded up; nil without a quota, which is `max` or
  /// negative.
  package static func processorCount(_ text: String) -> Int? {
    let fields = text.split(whereSeparator: \.isWhitespace).map { Int($0) }
    guard fields.count == 2, let quota = fields[0], let period = fields[1], quota > 0, period > 0
    else { return nil }
    return (quota - 1) / period + 1
  }

  /// The control group of a process from `/proc/self/cgroup`: its path, and whether the hierarchy is version 2.
  /// If both versions are mounted, version 1 is used, because a controller belongs to only one of them.
  package static func group(
    of controller: String, in text: String
  ) -> (path: String, isVersion2: Bool)? {
    var unified: String?
    for line in text.split(whereSeparator: \.isNewline) {
      let fields = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
      guard fields.count == 3 else { continue }
      if fields[1].split(separator: ",").contains(controller[...]) {
        return (String(fields[2]), false)
      }
      if fields[0] == "0", fields[1].isEmpty { unified = String(fields[2]) }
    }
    return unified.map { ($0, true) }
  }

  /// `path` and its ancestors, innermost first.
  package static func ancestors(of path: String) -> [String] {
    var parts = path.split(separator: "/").map(String.init)
    // `..` leaves the group's namespace, where nothing is mounted.
    if parts.contains("..") { parts = [] }
    return (0...parts.count).reversed().map { count in
      parts.prefix(count).map { "/" + $0 }.joined()
    }
  }

  /// The text of a small file; nil when it cannot be read.
  package static func text(_ path: String) -> String? {
    guard let file = try? FileDescriptor.open(FilePath(path), .readOnly, options: .closeOnExec)
    else { return nil }
    defer { try? file.close() }
    return String(decoding: file.prefix(4096), as: UTF8.self)
  }
}
