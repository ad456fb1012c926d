internal import Glibc
package import SystemPackage
internal import ZoetropeShims

/// The identity, size and times of a file. When the bytes of a file change, its stamp changes too, except as described
/// at ``isSettled(at:)``.
///
/// The stamp includes the change time, because any program can set the modification time back.
package struct FileStamp: Sendable, Hashable {
  package let device: UInt64
  package let inode: UInt64
  package let byteCount: Int
  /// The modification time, in nanoseconds since 1970.
  package let modified: Int64
  /// The change time, in nanoseconds since 1970. The system updates it whenever the file's bytes or attributes change.
  package let changed: Int64

  package init(device: UInt64, inode: UInt64, byteCount: Int, modified: Int64, changed: Int64) {
    self.device = device
    self.inode = inode
    self.byteCount = byteCount
    self.modified = modified
    self.changed = changed
  }

  /// Reads the stamp of the open file `file`.
  package init(of file: FileDescriptor) throws(AnimatedImageError) {
    do {
      self.init(try FileStatus(of: file))
    } catch {
      throw AnimatedImageError(
        .io, "cannot read the status of the file: \(error)", systemError: error)
    }
  }

  /// Reads the stamp of the file at `path`, or returns nil if there is no such file or its status cannot be read.
  package init?(at path: FilePath) {
    guard let status = FileStatus(at: path) else { return nil }
    self.init(status)
  }

  /// Creates a stamp from a file status.
  init(_ status: FileStatus) {
    self.init(
      device: status.device, inode: status.inode, byteCount: status.byteCount,
      modified: status.modified, changed: status.changed)
  }

  /// Returns whether the change time is so far from `now` that any later write is certain to change the stamp.
  ///
  /// Two writes within one tick of the file system's clock leave the same times, so a hash computed between the two
  /// writes would seem to match the final bytes. The coarsest tick of any common file system is that of FAT, 2 s. A
  /// change time up to 60 s ahead counts as recent, because the clock of a file server may be ahead of this system's.
  ///
  /// The modification time is not considered: any program can set it, for example to a time in the future, which it
  /// would keep for years. The change time cannot be set. Each write sets it to the time of the file system's clock,
  /// whatever the modification time is. A change time further ahead comes from a clock that was wrong then. That file
  /// is settled, because a write now would set a different time.
  package func isSettled(at now: Int64) -> Bool {
    // The difference wraps, because a damaged file system may return any time.
    !(-60_000_000_000...2_000_000_000).contains(now &- changed)
  }

  /// Returns whether nothing was written to an open file between the times at which this stamp and `other` were read.
  /// The change time is ignored, because it also changes when the file is removed or renamed, neither of which affects
  /// the bytes of an open file.
  func hasBytes(of other: FileStamp) -> Bool {
    device == other.device && inode == other.inode && byteCount == other.byteCount
      && modified == other.modified
  }

  /// Returns the system's wall-clock time in nanoseconds since 1970.
  package static func now() -> Int64 { timespec.now().nanoseconds }
}
