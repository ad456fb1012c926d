internal import Glibc
internal import Synchronization
package import SystemPackage

/// Keeps files open only to avoid opening them again.
package protocol IdleFileHolder: AnyObject, Sendable {
  /// Closes the least recently used file; returns false if there is none.
  func closeIdleFile() -> Bool
}

/// Idle files, which are closed when descriptors run out.
package final class IdleFiles: Sendable {
  /// The idle files of this process.
  package static let shared = IdleFiles()

  private struct Holder {
    weak var holder: (any IdleFileHolder)?
  }

  private let holders = Mutex((all: [Int: Holder](), last: 0))
  private let limit: @Sendable () -> Int

  /// - Parameter limit: The number of descriptors that the process may have.
  package init(limit: @escaping @Sendable () -> Int = { descriptorLimit }) { self.limit = limit }

  /// Of this process.
  package static var descriptorLimit: Int {
    var found = rlimit()
    guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &found) == 0 else {
      return .max
    }
    return Int(clamping: found.rlim_cur)
  }

  /// A number for a holder.
  package func newNumber() -> Int {
    holders.withLock { holders in
      holders.last += 1
      return holders.last
    }
  }

  /// Adds a holder under its number, until ``remove(_:)``.
  package func add(_ holder: some IdleFileHolder, _ number: Int) {
    holders.withLock { $0.all[number] = Holder(holder: holder) }
  }

  /// Removes the holder with this number.
  package func remove(_ number: Int) { _ = holders.withLock { $0.all.removeValue(forKey: number) } }

  /// Returns the result of `open`. While that fails because the process or the system has no descriptor
  /// left, closes one idle file and tries again.
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

  /// Like ``makingRoom(_:)``, and closes an idle file if few descriptors are left.
  ///
  /// The last ones are for others: libdispatch ends the process if it finds none when it looks at its threads, which it
  /// does every second.
  package func open(_ open: () throws -> FileDescriptor) throws -> FileDescriptor {
    let file = try makingRoom(open)
    // The system gives the lowest number that is free.
    let limit = limit()
    if Int(file.rawValue) >= limit - min(8, limit / 4) { _ = closeOne() }
    return file
  }

  /// Closes an idle file of the first holder that has one.
  private func closeOne() -> Bool {
    // Called outside the lock: closing a file releases objects, and so may the references loaded here.
    let living = holders.withLock { $0.all.values.compactMap(\.holder) }
    return living.contains { $0.closeIdleFile() }
  }
}
