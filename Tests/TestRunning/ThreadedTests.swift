public import Testing
import Zoetrope

/// Runs each case of a test or suite on a thread of its own.
///
/// Swift Testing runs cases on the cooperative pool, which has one thread for each processor. A case
/// that computes for long or waits for the system holds such a thread up, and with it every task of the
/// tests that run at the same time.
public struct ThreadedTests: SuiteTrait, TestTrait, TestScoping {
  /// The turns, one of which a case takes before it begins; nil if it needs none.
  fileprivate let turns: Turns?
  /// Whether the thread sanitizer has nothing to find in the cases.
  fileprivate let isSequential: Bool

  /// More programs at a time would miss the deadlines that tests set; fewer would leave processors idle while one
  /// waits. A container may use fewer processors than the machine has.
  fileprivate static let programs = Turns(max(2, DecodeThreads.processorCount * 2))

  /// Suites hand the trait on to their tests.
  public var isRecursive: Bool { true }

  /// Returns itself, for each case.
  public func scopeProvider(for test: Test, testCase: Test.Case?) -> Self? {
    testCase == nil ? nil : self
  }

  /// Runs the case.
  @concurrent public func provideScope(
    for test: Test, testCase: Test.Case?,
    performing function: @Sendable @concurrent () async throws -> Void
  ) async throws {
    #if SANITIZE_THREAD
      if isSequential { try Test.cancel("the thread sanitizer has nothing new to find here") }
    #endif
    await turns?.take()
    defer { turns?.giveBack() }
    try await TestThread.run(function)
  }
}

extension Trait where Self == ThreadedTests {
  /// Cases compute for long: each runs on a thread of its own. Left out under the thread sanitizer; what they may run
  /// on several threads, shorter tests run under it.
  public static var computes: Self { Self(turns: nil, isSequential: true) }

  /// Cases start threads and block or compute beside them: each runs on a thread of its own.
  public static var startsThreads: Self { Self(turns: nil, isSequential: false) }

  /// Cases start programs and wait for them: each runs on a thread of its own, and no more than four
  /// for two processors at a time. Left out under the thread sanitizer.
  public static var runsPrograms: Self { Self(turns: ThreadedTests.programs, isSequential: true) }
}
