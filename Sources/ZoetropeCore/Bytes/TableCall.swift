#if DEBUG
  internal import Glibc
#endif

/// The system calls of a frame store's files, each of which a test may let fail.
///
/// In a release build every check below is a constant.
package enum TableCall: Sendable, Hashable, CaseIterable {
  case open, stat, resize, allocate, read, write, lock, map, punch, publish, makeDirectory, list
  /// Opening a file, or using a directory, for more than reading.
  case openWriting

  #if DEBUG
    /// What a call does instead of its work.
    package enum Fault: Sendable {
      /// It fails with this error number.
      case error(Int32)
      /// It reads or writes half of the bytes.
      case short
      /// The process is killed before it.
      case kill
    }

    /// Decides about each call of the current task; nil lets them all through.
    @TaskLocal package static var plan: (@Sendable (TableCall) -> Fault?)?
  #endif

  /// Whether the call fails; `errno` says why.
  @inline(__always)
  var fails: Bool { granted(1) < 0 }

  /// How many of `count` bytes the call transfers; -1 if it fails, and `errno` says why.
  @inline(__always)
  func granted(_ count: Int) -> Int {
    #if DEBUG
      switch Self.plan?(self) {
      case .error(let number):
        errno = number
        return -1
      case .short: return max(count / 2, 1)
      case .kill: kill(getpid(), SIGKILL)
      case nil: break
      }
    #endif
    return count
  }
}
