internal import Glibc
package import SystemPackage
internal import ZoetropeShims

/// The file system's record of a file, which changes when the file's bytes do.
///
/// It includes the change time because anyone can set the modification time back.
package struct FileStamp: Sendable, Hashable {
  package let device: UInt64
  package let inode: UInt64
  package let byteCount: Int
  /// Nanoseconds since 1970.
  package let modified: Int64
  /// Nanoseconds since 1970; the system updates it at each change of bytes or attributes.
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
    do {
      self.init(try FileStatus(of: file))
    } catch {
      throw AnimatedImageError(.io, "cannot stat: \(error)", systemError: error)
    }
  }

  /// The stamp of the file at `path`; nil if there is none.
  package init?(at path: FilePath) {
    guard let status = FileStatus(at: path) else { return nil }
    self.init(status)
  }

  /// The stamp in a file status.
  init(_ status: FileStatus) {
    self.init(
      device: status.device, inode: status.inode, byteCount: status.byteCount,
      modified: status.modified, changed: status.changed)
  }

  /// Whether the file last changed long enough before `now` that a later write shows in the stamp.
  ///
  /// Two writes within one tick of the file system's clock leave the same times, so a hash taken in
  /// that tick may be of the bytes in between. 2 s is FAT's tick, the coarsest in use.
  package func isSettled(at now: Int64) -> Bool {
    now - max(modified, changed) > 2_000_000_000
  }

  /// Whether nothing was written between the two stamps of one open file. Ignores the change time:
  /// removing or renaming a file changes it too, and an open file survives both.
  func hasBytes(of other: FileStamp) -> Bool {
    device == other.device && inode == other.inode && byteCount == other.byteCount
      && modified == other.modified
  }

  /// The system's wall clock, nanoseconds since 1970.
  package static func now() -> Int64 { timespec.now().nanoseconds }
}
