internal import Glibc
internal import Synchronization
internal import SystemPackage
internal import Zoetrope
internal import ZoetropeShims

/// Ends the wait of the player or of a preview: one pipe for signals, frames that are ready, and files that are
/// open.
///
/// ``wake()`` is called by signal handlers too, so the state is atomic and global.
package enum WakePipe {
  private static let writer = Atomic<Int32>(-1)
  private static let reader = Atomic<Int32>(-1)

  /// What to poll for the end of a wait; -1 before ``open()``, or without a pipe.
  package static var descriptor: Int32 { reader.load(ordering: .relaxed) }

  /// Returns false if the system has no pipe.
  static func open() -> Bool {
    if descriptor >= 0 { return true }
    guard let ends = try? FileDescriptor.pipe() else { return false }
    for end in [ends.readEnd, ends.writeEnd] {
      _ = fcntl(end.rawValue, F_SETFL, O_NONBLOCK)
      _ = fcntl(end.rawValue, F_SETFD, FD_CLOEXEC)
    }
    reader.store(ends.readEnd.rawValue, ordering: .relaxed)
    writer.store(ends.writeEnd.rawValue, ordering: .relaxed)
    return true
  }

  /// Ends a wait. A full pipe takes no byte, which does not matter: the reader is awake then.
  package static func wake() {
    let descriptor = writer.load(ordering: .relaxed)
    if descriptor >= 0 { zt_write_byte(descriptor) }
  }

  /// Empties the pipe.
  package static func drain() {
    var bytes = [UInt8](repeating: 0, count: 256)
    let reader = FileDescriptor(rawValue: descriptor)
    while (try? reader.read(into: &bytes)) == bytes.count {}
  }
}
