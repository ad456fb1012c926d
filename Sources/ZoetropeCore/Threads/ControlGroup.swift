internal import SystemPackage

/// The control group (cgroup) of this process for one controller, and the ancestors of that group.
package struct ControlGroup: Sendable {
  /// The directories of the group and of its ancestors, innermost first. Each of these groups may set limits. The array
  /// is empty if no group is found.
  package let folders: [String]
  package let isVersion2: Bool

  /// Finds the control group of this process for `controller`, and the ancestors of that group.
  ///
  /// - Parameter root: A prefix for all paths, for use in tests.
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
    // Inside a container, the host's path does not exist. The mount point is then the container's own group.
    folders = Self.ancestors(of: group.path).map { mount + $0 }
  }

  /// The number of processors that the lowest quota of processor time allows, or nil if there is no quota.
  ///
  /// With more threads than this, the quota of a period would run out early, and all threads would be stopped until the
  /// next period.
  package var processorQuota: Int? {
    folders.compactMap { folder -> Int? in
      let names = isVersion2 ? ["cpu.max"] : ["cpu.cfs_quota_us", "cpu.cfs_period_us"]
      let text = names.compactMap { Self.text("\(folder)/\($0)") }.joined(separator: " ")
      return Self.processorCount(text)
    }.min()
  }

  /// Parses a quota and its period, both in microseconds, and returns the number of processors that they allow, rounded
  /// up. Returns nil if the quota is `max` or negative, both of which mean that there is no quota, or if the text is
  /// invalid.
  package static func processorCount(_ text: String) -> Int? {
    let fields = text.split(whereSeparator: \.isWhitespace).map { Int($0) }
    guard fields.count == 2, let quota = fields[0], let period = fields[1], quota > 0, period > 0
    else { return nil }
    return (quota - 1) / period + 1
  }

  /// Finds the control group for `controller` in the text of `/proc/self/cgroup`. Returns the path of the group, and
  /// whether the group is in the version 2 hierarchy. If a version 1 hierarchy lists the controller, that hierarchy is
  /// used, because a controller belongs to only one of the two versions.
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
    // A path with `..` leads out of the process's cgroup namespace, and nothing outside that namespace is mounted.
    if parts.contains("..") { parts = [] }
    return (0...parts.count).reversed().map { count in
      parts.prefix(count).map { "/" + $0 }.joined()
    }
  }

  /// Returns the text of a small file (its first 4096 bytes), or nil if the file cannot be opened.
  package static func text(_ path: String) -> String? {
    guard let file = try? FileDescriptor.open(FilePath(path), .readOnly, options: .closeOnExec)
    else { return nil }
    defer { try? file.close() }
    return String(decoding: file.prefix(4096), as: UTF8.self)
  }
}
