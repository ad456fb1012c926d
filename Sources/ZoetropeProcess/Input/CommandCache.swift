package import SystemPackage
package import Zoetrope

/// Where a command keeps decoded frames for later runs, as set with `--cache`.
///
/// If the cache cannot be used, the command warns once and decodes everything.
package struct CommandCache: Hashable, Sendable {
  /// The directory of the cache, or nil if no cache is used.
  package var directory: FilePath?
  /// The maximum number of bytes on disk.
  package var byteLimit = defaultByteLimit
  /// Whether warnings are suppressed.
  package var isQuiet = false
  /// Whether warnings are written as JSON, for a program that reads standard error.
  package var reportsJSON = false

  package static let defaultByteLimit = 256 << 20

  package init(directory: FilePath? = nil, byteLimit: Int = defaultByteLimit) {
    (self.directory, self.byteLimit) = (directory, byteLimit)
  }

  /// Opens the frame store in ``directory``. Returns nil if no directory is set. If the store cannot be opened, warns
  /// and returns nil.
  package func open() -> FrameStore? {
    guard let directory else { return nil }
    do throws(AnimatedImageError) {
      return try FrameStore(at: directory, byteLimit: byteLimit)
    } catch {
      warn(error, "no frames are kept for later runs")
      return nil
    }
  }

  /// Warns if `store` failed to store or look up frames. Commands call this once, at the end.
  package func reportFailure(of store: FrameStore?) {
    guard let error = store?.lastError else { return }
    warn(error, "not all frames are kept for later runs")
  }

  private func warn(_ error: AnimatedImageError, _ consequence: String) {
    if isQuiet { return }
    let name = directory.map { FileName($0) }
    guard reportsJSON else {
      let place = (name?.text ?? "").sanitized
      FileDescriptor.note(
        "zoetrope: warning: cache \(place): \(consequence) (\(error.detail.sanitized))\n"
      )
      return
    }
    var json = JSONWriter()
    json.object { json in
      json.object("warning") {
        $0.field("code", error.code.name)
        $0.field("message", "\(consequence): \(error.detail)")
        $0.field("cache", name, base64Key: "cache_base64")
      }
    }
    FileDescriptor.note(String(decoding: json.bytes, as: UTF8.self) + "\n")
  }
}
