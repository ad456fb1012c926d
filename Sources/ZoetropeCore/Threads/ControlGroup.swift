internal import SystemPackage

/// The control group of this process for one controller, and the groups above it.
package struct ControlGroup: Sendable {
  /// The directories of the group and its ancestors, innermost first, or empty if none is found. Each may set limits.
  package let folders: [String]
  package let isVersion2: Bool

  /// Finds the groups of this process.
  ///
  /// - Parameter root: A prefix for every path, for tests.
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
    // Inside a container the host's path does not exist. The mount point is then the container's own group.
    folders = Self.ancestors(of: group.path).map { mount + $0 }
  }

  /// The number of processors that the lowest quota of processor time allows, or nil without a quota.
  ///
  /// With more threads the quota of a period would run out early, and all threads would stop until the next period.
  package var processorQuota: Int? {
    folders.compactMap { folder -> Int? in
      let names = isVersion2 ? ["cpu.max"] : ["cpu.cfs_quota_us", "cpu.cfs_period_us"]
      let text = names.compactMap { Self.text("\(folder)/\($0)") }.joined(separator: " ")
      return Self.processorCount(text)
    }.min()
  }

  /// Returns the number of processors that a quota and its period, both in microseconds, amount to, rounded up. Returns
  /// nil for `max` or a negative quota, which mean no quota.
  package static func processorCount(_ text: String) -> Int? {
    let fields = text.split(whereSeparator: \.isWhitespace).map { Int($0) }
    guard fields.count == 2, let quota = fields[0], let period = fields[1], quota > 0, period > 0
    else { return nil }
    return (quota - 1) / period + 1
  }

  /// Returns the control group of a process from `/proc/self/cgroup`: its path, and whether the hierarchy is version 2.
  /// Prefers version 1 if it lists the controller, because a controller belongs to only one version.
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

  /// Returns `path` and its ancestors, innermost first.
  package static func ancestors(of path: String) -> [String] {
    var parts = path.split(separator: "/").map(String.init)
    // `..` leaves the group's namespace, where nothing is mounted.
    if parts.contains("..") { parts = [] }
    return (0...parts.count).reversed().map { count in
      parts.prefix(count).map { "/" + $0 }.joined()
    }
  }

  /// Returns the text of a small file, or nil if it cannot be read.
  package static func text(_ path: String) -> String? {
    guard let file = try? FileDescriptor.open(FilePath(path), .readOnly, options: .closeOnExec)
    else { return nil }
    defer { try? file.close() }
    return String(decoding: file.prefix(4096), as: UTF8.self)
  }
}
