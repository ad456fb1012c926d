internal import Glibc
internal import SystemPackage

/// The system calls on the files of a frame store. Tests can make each of them fail.
///
/// In a release build, every check below compiles to a constant.
package enum TableCall: Sendable, Hashable, CaseIterable {
  case open, stat, resize, allocate, read, write, lock, map, punch, publish, makeDirectory, list
  /// Opening a file for writing, or modifying a directory.
  case openWriting

  #if DEBUG
    /// The injected outcome of a call.
    package enum Fault: Sendable {
      /// The call fails with this error number.
      case error(Int32)
      /// The call reads or writes half of the bytes.
      case short
      /// The process is killed before the call.
      case kill
    }

    /// A function that returns the fault to inject into a call of the current task, or nil for no fault. If the plan
    /// itself is nil, no call fails.
    @TaskLocal package static var plan: (@Sendable (TableCall) -> Fault?)?
  #endif

  /// Throws if the plan makes the call fail.
  @inline(__always)
  func check() throws(Errno) { _ = try granted(1) }

  /// Returns how many of `count` bytes the call may transfer.
  @inline(__always)
  func granted(_ count: Int) throws(Errno) -> Int {
    #if DEBUG
      switch Self.plan?(self) {
      case .error(let number): throw Errno(rawValue: number)
      case .short: return max(count / 2, 1)
      case .kill: kill(getpid(), SIGKILL)
      case nil: break
      }
    #endif
    return count
  }

  /// Makes the call with `body`, and repeats it whenever a signal interrupts it. `action` completes the error message
  /// "cannot …".
  @inline(__always)
  func make<Result>(
    _ action: @autoclosure () -> String, _ body: () throws -> Result
  ) throws(AnimatedImageError) -> Result {
    while true {
      do { return try body() } catch {
        let number = error as? Errno ?? .ioError
        if number != .interrupted { throw .store(number, action()) }
      }
    }
  }
}
