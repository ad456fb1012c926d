internal import Glibc
internal import Synchronization
internal import SystemPackage
internal import Zoetrope
internal import ZoetropeShims

/// A pipe that wakes the player or a preview when a signal arrives, a frame is ready, or a file has been opened.
///
/// Signal handlers call ``wake()``, so the state is atomic and global.
package enum WakePipe {
  private static let writer = Atomic<Int32>(-1)
  private static let reader = Atomic<Int32>(-1)

  /// The descriptor to poll, or -1 if ``open()`` has not been called or has failed.
  package static var descriptor: Int32 { reader.load(ordering: .relaxed) }

  /// Opens the pipe. Returns false if the system cannot create one.
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

  /// Wakes the reader of the pipe. If the pipe is full, the byte is lost, but the reader wakes up anyway.
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
