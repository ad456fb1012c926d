import Glibc
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

  /// The numbers of a process, and files in it that are idle, the oldest first.
  private final class Numbers: IdleFileHolder {
    private let state = Mutex((taken: Set<Int32>(0..<3), idle: [Int32]()))

    var taken: Set<Int32> { state.withLock { $0.taken } }

    func open() -> FileDescriptor {
      state.withLock { FileDescriptor(rawValue: Self.take(&$0.taken)) }
    }

    func rest(_ file: FileDescriptor) { state.withLock { $0.idle.append(file.rawValue) } }

    func lower(_ file: FileDescriptor) -> FileDescriptor {
      state.withLock { state in
        let copy = Self.take(&state.taken)
        state.taken.remove(max(copy, file.rawValue))
        return FileDescriptor(rawValue: min(copy, file.rawValue))
      }
    }

    func closeIdleFile() -> Bool {
      state.withLock { state in
        guard !state.idle.isEmpty else { return false }
        state.taken.remove(state.idle.removeFirst())
        return true
      }
    }

    private static func take(_ taken: inout Set<Int32>) -> Int32 {
      var number: Int32 = 0
      while taken.contains(number) { number += 1 }
      taken.insert(number)
      return number
    }
  }

  @Test(arguments: [(limit: 1024, most: 1015), (limit: 48, most: 39), (limit: 12, most: 8)])
  func `the last descriptors are left to others`(limit: Int, most: Int32) throws {
    let numbers = Numbers()
    let files = IdleFiles(limit: { limit }, lowered: numbers.lower)
    files.add(numbers, 0)
    for count in 0..<limit + 50 {
      numbers.rest(try files.open(numbers.open))
      let taken = numbers.taken
      #expect(taken.allSatisfy { $0 <= most } && taken.count == min(count + 4, Int(most) + 1))
    }
    // If nothing is idle, the file is opened nevertheless.
    while numbers.closeIdleFile() {}
    for _ in 3..<limit { _ = try files.open(numbers.open) }
    #expect(numbers.taken.count == limit)
  }

  @Test func `a file gets a lower number only if one is free`() throws {
    let file = try FileDescriptor.open(FilePath("/dev/zero"), .readOnly)
    let high = FileDescriptor(rawValue: fcntl(file.rawValue, F_DUPFD_CLOEXEC, 300))
    try #require(high.rawValue >= 300)
    let low = IdleFiles.lowered(high)
    defer { try? low.close() }
    #expect(low.rawValue < high.rawValue && fcntl(low.rawValue, F_GETFD) == FD_CLOEXEC)
    try file.close()
    let invalid = FileDescriptor(rawValue: -1)
    #expect(IdleFiles.lowered(invalid) == invalid)
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
