import Synchronization
import Zoetrope
import ZoetropeTestSupport

/// Bytes in memory behind a latency, which notes every read.
final class CountedRanges: ByteRangeReading {
  private struct State {
    var begun: [Range<Int>] = []
    var cancelled: [Range<Int>] = []
    var answer: (@Sendable (Range<Int>, [UInt8]) throws -> [UInt8])?
  }

  let bytes: [UInt8]
  private let clock: ManualClock?
  private let latency: Duration
  private let state = Mutex(State())
  /// Counts reads that have begun.
  let tally = Tally()

  var byteCount: Int { bytes.count }

  init(_ bytes: [UInt8], clock: ManualClock? = nil, latency: Duration = .milliseconds(50)) {
    self.bytes = bytes
    self.clock = clock
    self.latency = latency
  }

  /// The reads so far, in order.
  var reads: [Range<Int>] { state.withLock { $0.begun } }

  /// The reads that were cancelled while they waited.
  var cancelledReads: [Range<Int>] { state.withLock { $0.cancelled } }

  /// Bytes read so far.
  var readByteCount: Int { reads.reduce(0) { $0 + $1.count } }

  /// Forgets the reads so far.
  func reset() { state.withLock { $0.begun = [] } }

  /// Has every read answered by `answer`, which gets the right bytes; nil for those.
  func answer(with answer: (@Sendable (Range<Int>, [UInt8]) throws -> [UInt8])?) {
    state.withLock { $0.answer = answer }
  }

  func read(_ range: Range<Int>) async throws -> [UInt8] {
    state.withLock { $0.begun.append(range) }
    tally.add()
    if let clock {
      do {
        try await clock.sleep(until: clock.now.advanced(by: latency))
      } catch {
        state.withLock { $0.cancelled.append(range) }
        throw error
      }
    }
    let answer = state.withLock { $0.answer }
    let right = Array(bytes[range])
    return try answer?(range, right) ?? right
  }
}

/// What a reader may do wrong.
enum ReadFault: Sendable, CaseIterable {
  case outage, short, long, none, cancelled, quota

  private struct Outage: Error {}

  func answer(_ right: [UInt8]) throws -> [UInt8] {
    switch self {
    case .outage: throw Outage()
    case .short: Array(right.dropLast())
    case .long: right + [0]
    case .none: []
    case .cancelled: throw CancellationError()
    case .quota: throw AnimatedImageError(.limitExceeded, "quota")
    }
  }

  /// What the error says about a read of `count` bytes.
  func detail(of count: Int) -> String {
    switch self {
    case .outage: "Outage"
    case .short: "\(count - 1) bytes were returned instead of \(count)"
    case .long: "\(count + 1) bytes were returned instead of \(count)"
    case .none: "0 bytes were returned instead of \(count)"
    case .cancelled: "Cancellation"
    case .quota: "quota"
    }
  }
}
