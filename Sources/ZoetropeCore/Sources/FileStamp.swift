internal import Glibc
package import SystemPackage

/// What the file system says of a file that changes when its bytes do.
///
/// The change time is part of it because the modification time can be set back by anyone.
package struct FileStamp: Sendable, Hashable {
  package let device: UInt64
  package let inode: UInt64
  package let byteCount: Int
  /// Nanoseconds since 1970.
  package let modified: Int64
  /// Nanoseconds since 1970; the system sets it at each change of bytes or attributes.
  package let changed: Int64

  package init(device: UInt64, inode: UInt64, byteCount: Int, modified: Int64, changed: Int64) {
    self.device = device
    self.inode = inode
    self.byteCount = byteCount
    self.modified = modified
    self.changed = changed
  }

  /// The stamp of the open file `file`.
  package init(of file: FileDescriptor) throws(AnimatedImageError) {
    var status = stat()
    guard unsafe fstat(file.rawValue, &status) == 0 else {
      throw AnimatedImageError(.io, "cannot stat: \(Errno(rawValue: errno))")
    }
    self.init(status)
  }

  /// The stamp of the file at `path`; nil when there is none.
  package init?(at path: FilePath) {
    var status = stat()
    guard unsafe path.withPlatformString({ unsafe stat($0, &status) }) == 0 else { return nil }
    self.init(status)
  }

  /// The stamp in what the system says of a file.
  init(_ status: stat) {
    self.init(
      device: UInt64(status.st_dev), inode: UInt64(status.st_ino),
      byteCount: Int(status.st_size), modified: Self.nanoseconds(status.st_mtim),
      changed: Self.nanoseconds(status.st_ctim))
  }

  /// Whether the file was left alone long enough before `now` that a later write shows in the stamp.
  ///
  /// Two writes within one tick of the file system's clock leave the same times, so a hash taken in
  /// that tick may be of the bytes in between. 2 s is FAT's tick, the coarsest in use.
  package func isSettled(at now: Int64) -> Bool {
    now - max(modified, changed) > 2_000_000_000
  }

  /// Whether nothing was written between the two stamps of one open file. The change time is left out:
  /// removing or renaming a file changes it too, and an open file outlives both.
  func hasBytes(of other: FileStamp) -> Bool {
    device == other.device && inode == other.inode && byteCount == other.byteCount
      && modified == other.modified
  }

  private static func nanoseconds(_ time: timespec) -> Int64 {
    Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
  }

  /// The system's wall clock, nanoseconds since 1970.
  package static func now() -> Int64 {
    var time = timespec()
    _ = unsafe clock_gettime(CLOCK_REALTIME, &time)
    return nanoseconds(time)
  }
}
