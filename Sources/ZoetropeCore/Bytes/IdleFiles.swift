internal import Glibc
internal import Synchronization
package import SystemPackage

/// An object that keeps files open only to avoid reopening them.
package protocol IdleFileHolder: AnyObject, Sendable {
  /// Closes the least recently used idle file. Returns false if the holder has no idle file.
  func closeIdleFile() -> Bool
}

/// A registry of objects that hold idle files. When the process runs out of descriptors, the registry makes these
/// objects close idle files.
package final class IdleFiles: Sendable {
  /// The registry of this process.
  package static let shared = IdleFiles()

  private struct Holder {
    weak var holder: (any IdleFileHolder)?
  }

  private let holders = Mutex((all: [Int: Holder](), last: 0))
  private let limit: @Sendable () -> Int
  private let lowered: @Sendable (FileDescriptor) -> FileDescriptor

  /// Creates an empty registry.
  ///
  /// - Parameters:
  ///   - limit: Returns the number of descriptors that the process may have open.
  ///   - lowered: Moves a file to the lowest free descriptor number, if that is lower than the file's own number, and
  ///     returns the file's descriptor.
  package init(
    limit: @escaping @Sendable () -> Int = { FileDescriptor.maximumCount },
    lowered: @escaping @Sendable (FileDescriptor) -> FileDescriptor = IdleFiles.lowered
  ) {
    (self.limit, self.lowered) = (limit, lowered)
  }

  /// Returns a number that no other holder has.
  package func newNumber() -> Int {
    holders.withLock { holders in
      holders.last += 1
      return holders.last
    }
  }

  /// Registers `holder` under `number`, until ``remove(_:)`` is called with that number.
  package func add(_ holder: some IdleFileHolder, _ number: Int) {
    holders.withLock { $0.all[number] = Holder(holder: holder) }
  }

  /// Removes the holder with this number.
  package func remove(_ number: Int) { _ = holders.withLock { $0.all.removeValue(forKey: number) } }

  /// Calls `open` and returns its result. As long as `open` fails because descriptors have run out, closes one idle
  /// file and tries again. If no idle file is left, rethrows the error.
  package func makingRoom<Value>(_ open: () throws -> Value) throws -> Value {
    while true {
      do {
        return try open()
      } catch let error as Errno
        where error == .tooManyOpenFiles || error == .tooManyOpenFilesInSystem
      {
        guard closeOne() else { throw error }
      }
    }
  }

  /// Like ``makingRoom(_:)``, but also closes idle files while few descriptors are left.
  ///
  /// The last descriptors are reserved for other code: libdispatch opens a file every second to inspect its threads,
  /// and terminates the process if it cannot open the file.
  package func open(_ open: () throws -> FileDescriptor) throws -> FileDescriptor {
    var file = try makingRoom(open)
    // Move the file to the number that becomes free when an idle file is closed. Otherwise, the next file to be opened
    // would get that low number, no idle file would be closed for it, and every second call would use up one of the
    // last descriptors.
    let limit = limit()
    while Int(file.rawValue) >= limit - min(8, limit / 4), closeOne() { file = lowered(file) }
    return file
  }

  /// Moves `file` to the lowest free descriptor number, if that is lower than the file's own number, and returns the
  /// file's descriptor.
  package static func lowered(_ file: FileDescriptor) -> FileDescriptor {
    let copy = fcntl(file.rawValue, F_DUPFD_CLOEXEC, 3)
    guard copy >= 0 else { return file }
    let isLower = copy < file.rawValue
    try? FileDescriptor(rawValue: isLower ? file.rawValue : copy).close()
    return isLower ? FileDescriptor(rawValue: copy) : file
  }

  /// Closes an idle file of the first holder that has one. Returns false if no holder has an idle file.
  private func closeOne() -> Bool {
    // Close the file outside the lock: closing it may release objects, and so may dropping the references loaded here.
    let living = holders.withLock { $0.all.values.compactMap(\.holder) }
    return living.contains { $0.closeIdleFile() }
  }
}
