import Synchronization
import SystemPackage
import Testing
import ZoetropeCore

/// Files that are only kept open to save opening them again give way when descriptors run out.
@Suite(.timeLimit(.minutes(10))) struct IdleFileTests {
  private final class Holder: IdleFileHolder, Sendable {
    private let left: Atomic<Int>

    init(_ count: Int) { left = Atomic(count) }

    var count: Int { left.load(ordering: .relaxed) }

    func closeIdleFile() -> Bool {
      guard count > 0 else { return false }
      left.subtract(1, ordering: .relaxed)
      return true
    }
  }

  @Test(arguments: [Errno.tooManyOpenFiles, .tooManyOpenFilesInSystem])
  func `an open without a descriptor is tried again after each file that is closed`(
    error: Errno
  ) throws {
    let files = IdleFiles()
    let holders = [Holder(2), Holder(0), Holder(3)]
    for (number, holder) in holders.enumerated() { files.add(holder, number) }
    var attempts = 0
    let value = try files.makingRoom {
      attempts += 1
      if attempts < 5 { throw error }
      return attempts
    }
    #expect(value == 5 && holders.reduce(0) { $0 + $1.count } == 1)
    // With the last one it gives up, and a holder that is gone is not asked.
    files.remove(1)
    #expect(throws: error) {
      try files.makingRoom {
        attempts += 1
        throw error
      }
    }
    #expect(attempts == 7 && holders.allSatisfy { $0.count == 0 })
  }

  @Test(arguments: [(limit: 1024, most: 1015), (limit: 48, most: 39), (limit: 12, most: 8)])
  func `the last descriptors are left to others`(limit: Int, most: Int32) throws {
    let files = IdleFiles { limit }
    let holder = Holder(2)
    files.add(holder, 0)
    for number in [0, most] {
      _ = try files.open { FileDescriptor(rawValue: number) }
      #expect(holder.count == 2)
    }
    _ = try files.open { FileDescriptor(rawValue: most + 1) }
    #expect(holder.count == 1)
  }

  @Test func `any other error is thrown at once`() {
    let files = IdleFiles()
    let holder = Holder(1)
    files.add(holder, 0)
    #expect(throws: Errno.permissionDenied) {
      try files.makingRoom { throw Errno.permissionDenied }
    }
    #expect(holder.count == 1)
  }
}
