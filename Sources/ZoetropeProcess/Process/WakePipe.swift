internal import Glibc
internal import Synchronization

/// Wakes the player or a preview: one pipe for signals, frames that are ready, and files that have been opened.
///
/// Unsafe code: signal handlers call ``wake()``, so the state is atomic and global. No pointer passed here
/// outlives its call.
package enum WakePipe {
  private static let writer = Atomic<Int32>(-1)
  private static let reader = Atomic<Int32>(-1)

  /// The descriptor to poll; -1 before ``open()``, or if there is no pipe.
  package static var descriptor: Int32 { reader.load(ordering: .relaxed) }

  /// Returns false if the system cannot create a pipe.
  static func open() -> Bool {
    if descriptor >= 0 { return true }
    var ends: [Int32] = [-1, -1]
    guard unsafe pipe(&ends) == 0 else { return false }
    for end in ends {
      _ = fcntl(end, F_SETFL, O_NONBLOCK)
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
    }
    reader.store(ends[0], ordering: .relaxed)
    writer.store(ends[1], ordering: .relaxed)
    return true
  }

  /// Wakes the reader. If the pipe is full the byte is lost, but the reader is awake anyway.
  package static func wake() {
    let descriptor = writer.load(ordering: .relaxed)
    guard descriptor >= 0 else { return }
    var byte: UInt8 = 0
    _ = unsafe write(descriptor, &byte, 1)
  }

  /// Empties the pipe.
  package static func drain() {
    var bytes = [UInt8](repeating: 0, count: 256)
    while unsafe read(descriptor, &bytes, bytes.count) == bytes.count {}
  }
}
