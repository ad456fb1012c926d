import Foundation
import Synchronization
import TestRunning
import Testing
import ZoetropeTestSupport

@testable import Zoetrope
@testable import ZoetropeCodec
@testable import ZoetropeCore

/// Where threads may run, whatever processor they begin on.
@Suite(.timeLimit(.minutes(1)), .startsThreads) struct SystemThreadTests {
  /// What the system says of the calling thread under `name`.
  private static func status(_ name: String) throws -> Substring {
    let text = try String(contentsOfFile: "/proc/thread-self/status", encoding: .utf8)
    let line = try #require(text.split(separator: "\n").first { $0.hasPrefix(name + ":") })
    return line.dropFirst(name.count + 1).drop { $0 == "\t" }
  }

  /// The processors that the calling thread may run on.
  private static func processors() throws -> Substring { try status("Cpus_allowed_list") }

  /// What `body` says on a thread of its own, which runs it when it has begun and its starter has gone on.
  private static func onThread<Value: Sendable>(
    _ body: @escaping @Sendable () -> Value
  ) throws -> Value {
    let value = ValueBox<Value>()
    let isStarted = ThreadSignal()
    let thread = try #require(
      SystemThread {
        isStarted.wait()
        let result = body()
        value.state.withLock { $0 = result }
      })
    isStarted.post()
    thread.join()
    return try #require(value.state.withLock { $0 })
  }

  private final class ValueBox<Value: Sendable>: Sendable {
    let state = Mutex<Value?>(nil)
  }

  /// The numbers in a list such as `0-3,8`.
  private static func numbers(in list: Substring) -> Set<Int> {
    Set(
      list.split(separator: ",").flatMap { part in
        let ends = part.split(separator: "-").compactMap { Int($0) }
        return Array((ends.first ?? 0)...(ends.last ?? 0))
      })
  }

  /// Starts threads as the tool does, which is what other tests then do as well: nothing they can see.
  @Test func `a thread that begins elsewhere may run wherever its starter may`() throws {
    SystemThread.beginsElsewhere.store(true, ordering: .relaxed)
    defer { SystemThread.beginsElsewhere.store(false, ordering: .relaxed) }
    let mine = Self.numbers(in: try Self.processors())
    for _ in 0..<50 {
      let its = Self.numbers(in: try Self.onThread { Result { try Self.processors() } }.get())
      // The starter's set may name processors that the machine does not have now.
      #expect(its.isSubset(of: mine) && its.count >= min(mine.count, DecodeThreads.processorCount))
    }
  }

  private static let taskset = "/usr/bin/taskset"

  @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: taskset)))
  func `a starter that is bound to one processor starts threads that are bound to it`() throws {
    SystemThread.beginsElsewhere.store(true, ordering: .relaxed)
    defer { SystemThread.beginsElsewhere.store(false, ordering: .relaxed) }
    let lists = try Self.onThread {
      Result {
        // One that it is on is one that there is.
        let here = try String(contentsOfFile: "/proc/thread-self/stat", encoding: .utf8)
          .split(separator: ")").last?.split(separator: " ")[36]
        let bind = Process()
        bind.executableURL = URL(fileURLWithPath: Self.taskset)
        bind.arguments = ["-pc", String(try #require(here)), String(try Self.status("Pid"))]
        bind.standardOutput = FileHandle.nullDevice
        try bind.run()
        bind.waitUntilExit()
        try #require(bind.terminationStatus == 0)
        let its = try Self.onThread { Result { try Self.processors() } }.get()
        return [try #require(here), try Self.processors(), its]
      }
    }.get()
    #expect(Set(lists).count == 1)
  }
}
