internal import Synchronization

/// An object that reads byte ranges of a ``ByteRangeReading`` through a cache.
///
/// Cached bytes are not read again, and overlapping concurrent requests share one read. A read is cancelled when the
/// last request that waits for it is cancelled. An error is delivered to every request that waits for the read, and is
/// never cached.
package final class RangeFetcher: Sendable {
  private typealias Outcome = Result<[UInt8], AnimatedImageError>

  /// A read in progress.
  private struct Flight {
    let number: Int
    let range: Range<Int>
    var task: Task<Void, Never>?
    var waiters: [ResultHandover<Outcome>] = []
    /// Whether the read continues even if no request waits for it.
    var isHeld = false
  }

  private struct State {
    var flights: [Flight] = []
    var lastNumber = 0
    var statistics = ReadStatistics()

    mutating func take(_ number: Int) -> Flight? {
      flights.firstIndex { $0.number == number }.map { flights.remove(at: $0) }
    }
  }

  /// The source of the bytes for one part of a requested range.
  private enum Part {
    case kept([UInt8])
    /// The bytes of `range` will be provided by a read in progress.
    case awaited(Wait, range: Range<Int>)
  }

  private struct Wait: Sendable {
    let number: Int
    /// The offset at which the awaited read begins.
    let start: Int
    let handover: ResultHandover<Outcome>
  }

  package let byteCount: Int
  package let cache: ByteRangeCache
  private let reader: any ByteRangeReading
  private let state = Mutex(State())

  /// The maximum number of missing parts of a request that are read separately. If there are more, some of them are
  /// read as one range that spans them.
  package static let mostReads = 16

  /// An event reported to `noteChange`: the number of pinned bytes changed by the given amount, or the cache grew.
  package enum Change: Sendable {
    case pinned(Int)
    case cached
  }

  private let noteChange: @Sendable (Change) -> Void

  /// Creates a fetcher.
  ///
  /// - Parameter noteChange: Called when the number of pinned bytes changes or the cache grows. No lock is held during
  ///   the call.
  package init(
    _ reader: any ByteRangeReading, cache: ByteRangeCache,
    noteChange: @escaping @Sendable (Change) -> Void = { _ in }
  ) {
    self.reader = reader
    self.cache = cache
    self.noteChange = noteChange
    byteCount = max(reader.byteCount, 0)
  }

  /// Reports that the number of bytes that readers pin outside the cache has changed by `count`.
  func notePinned(_ count: Int) {
    if count != 0 { noteChange(.pinned(count)) }
  }

  /// Returns the parts of `range` that are not in the cache. If there are more than `most` of them, returns a single
  /// range that spans all of them.
  private func gaps(in range: Range<Int>, most: Int = mostReads) -> [Range<Int>] {
    let gaps = cache.missing(in: range)
    guard gaps.count > most else { return gaps }
    return [gaps[0].lowerBound..<gaps[gaps.count - 1].upperBound]
  }

  /// The statistics of all reads so far.
  package var statistics: ReadStatistics { state.withLock { $0.statistics } }

  /// The number of reads in progress.
  package var flightCount: Int { state.withLock { $0.flights.count } }

  /// The number of waits for reads in progress.
  package var waiterCount: Int {
    state.withLock { $0.flights.reduce(0) { $0 + $1.waiters.count } }
  }

  /// Starts reading those bytes of `range` that are neither cached nor being read, provided that there are at least
  /// `count` of them. Returns immediately.
  ///
  /// - Returns: The reads that were started. Each read continues until it completes or is released with
  ///   ``release(_:)``.
  package func hold(
    _ range: Range<Int>, ifMissing count: Int = 1
  ) -> [(number: Int, range: Range<Int>)] {
    state.withLock { state in
      let missing = gaps(in: range).flatMap { Self.split($0, by: state.flights) }
        .filter { $0.flight == nil }.map(\.range)
      guard missing.reduce(0, { $0 + $1.count }) >= count else { return [] }
      return missing.map { range in
        let place = begin(range, in: &state)
        state.flights[place].isHeld = true
        return (state.flights[place].number, range)
      }
    }
  }

  /// Releases a read that ``hold(_:ifMissing:)`` started. The read is cancelled unless a request waits for it.
  package func release(_ number: Int) {
    let task = state.withLock { state -> Task<Void, Never>? in
      guard let place = state.flights.firstIndex(where: { $0.number == number }) else {
        return nil
      }
      state.flights[place].isHeld = false
      return state.flights[place].waiters.isEmpty ? state.take(number)?.task : nil
    }
    task?.cancel()
  }

  /// Returns the bytes of `range`. See ``bytes(in:)-([Range<Int>])``.
  package func bytes(in range: Range<Int>) async throws(AnimatedImageError) -> [UInt8] {
    try await bytes(in: [range]).first ?? []
  }

  /// Returns the bytes of each of `ranges`, reading them concurrently.
  ///
  /// - Throws: `parameter` if a range reaches outside the file; `io`, or the code of the error that the
  ///   ``ByteRangeReading`` threw, with the range of the failed read in the detail; `cancelled` as soon as the calling
  ///   task is cancelled.
  package func bytes(in ranges: [Range<Int>]) async throws(AnimatedImageError) -> [[UInt8]] {
    for range in ranges where range.lowerBound < 0 || range.upperBound > byteCount {
      throw AnimatedImageError(
        .parameter, "bytes \(range) are not within the \(byteCount) bytes of the file",
        byteOffset: range.lowerBound)
    }
    guard !Task.isCancelled else { throw Self.cancelled }
    let gapCount = ranges.reduce(0) { $0 + cache.missing(in: $1).count }
    let most =
      gapCount > Self.mostReads ? max(Self.mostReads / ranges.count, 1) : Self.mostReads
    // All reads begin before the first one is awaited.
    let requests = ranges.map { join($0, most: most) }
    var waits = requests.joined().compactMap { part in
      if case .awaited(let wait, _) = part { wait } else { nil }
    }[...]
    do throws(AnimatedImageError) {
      var results: [[UInt8]] = []
      for (range, parts) in zip(ranges, requests) {
        var bytes: [UInt8] = []
        if parts.count > 1 { bytes.reserveCapacity(range.count) }
        for part in parts {
          switch part {
          case .kept(let kept): Self.append(kept[...], to: &bytes)
          case .awaited(let wait, let range):
            let found = try await value(of: wait)
            waits = waits.dropFirst()
            let start = range.lowerBound - wait.start
            Self.append(found[start..<start + range.count], to: &bytes)
          }
        }
        results.append(bytes)
      }
      return results
    } catch {
      for wait in waits { leave(wait) }
      throw error
    }
  }

  /// Appends `more` to `bytes`. Does not copy the bytes if `bytes` is empty and `more` is a whole array.
  private static func append(_ more: ArraySlice<UInt8>, to bytes: inout [UInt8]) {
    if bytes.isEmpty { bytes = Array(more) } else { bytes += more }
  }

  private func value(of wait: Wait) async throws(AnimatedImageError) -> [UInt8] {
    guard let outcome = await wait.handover.valueUnlessCancelled({ self.leave(wait) }) else {
      throw Self.cancelled
    }
    return try outcome.get()
  }

  private static var cancelled: AnimatedImageError {
    AnimatedImageError(.cancelled, "stopped while reading bytes")
  }

  // MARK: - Reads

  /// Returns the parts that make up `range`: cached bytes, reads in progress, and reads that this method starts for the
  /// rest. If more than `most` parts of the range are not cached, the whole stretch from the first to the last of them
  /// is read.
  private func join(_ range: Range<Int>, most: Int) -> [Part] {
    guard !range.isEmpty else { return [] }
    return state.withLock { state in
      var parts: [Part] = []
      var start = range.lowerBound
      for gap in gaps(in: range, most: most) + [range.upperBound..<range.upperBound] {
        if start < gap.lowerBound {
          let held = start..<gap.lowerBound
          // Another user of the cache may have evicted these bytes meanwhile.
          if let bytes = cache.data(for: held) {
            parts.append(.kept(bytes))
          } else {
            parts += self.parts(covering: held, in: &state)
          }
        }
        parts += self.parts(covering: gap, in: &state)
        start = gap.upperBound
      }
      return parts
    }
  }

  /// Returns awaited parts that together cover `gap`. Some of them wait for reads that are already in progress; for the
  /// rest, this method starts new reads.
  private func parts(covering gap: Range<Int>, in state: inout State) -> [Part] {
    Self.split(gap, by: state.flights).map { piece in
      let place = piece.flight ?? begin(piece.range, in: &state)
      let handover = ResultHandover<Outcome>()
      state.flights[place].waiters.append(handover)
      let flight = state.flights[place]
      let wait = Wait(number: flight.number, start: flight.range.lowerBound, handover: handover)
      return .awaited(wait, range: piece.range)
    }
  }

  /// Splits `gap` into pieces in ascending order. Returns each piece with the index of the read in progress that covers
  /// it, or with nil if no read covers it.
  private static func split(
    _ gap: Range<Int>, by flights: [Flight]
  ) -> [(range: Range<Int>, flight: Int?)] {
    var pieces: [(range: Range<Int>, flight: Int?)] = []
    var start = gap.lowerBound
    while start < gap.upperBound {
      let flight = flights.firstIndex { $0.range.contains(start) }
      var end = gap.upperBound
      if let flight {
        end = min(end, flights[flight].range.upperBound)
      } else {
        for other in flights where other.range.lowerBound > start {
          end = min(end, other.range.lowerBound)
        }
      }
      pieces.append((start..<end, flight))
      start = end
    }
    return pieces
  }

  /// Starts a read of `range` and returns its index in `state.flights`.
  private func begin(_ range: Range<Int>, in state: inout State) -> Int {
    state.lastNumber += 1
    state.statistics.readCount += 1
    state.statistics.byteCount += range.count
    let number = state.lastNumber
    let task = Task { [weak self, reader] in
      let outcome = await Self.read(range, from: reader)
      self?.finish(number, range, outcome)
    }
    state.flights.append(Flight(number: number, range: range, task: task))
    return state.flights.count - 1
  }

  private static func read(
    _ range: Range<Int>, from reader: any ByteRangeReading
  ) async -> Outcome {
    func failure(
      _ code: AnimatedImageError.Code, _ detail: String, _ cause: AnimatedImageError? = nil
    ) -> Outcome {
      .failure(
        AnimatedImageError(
          code, "reading bytes \(range) failed: \(detail)", byteOffset: range.lowerBound,
          limit: cause?.limit, systemError: cause?.systemError,
          underlyingError: cause?.underlyingError))
    }
    do {
      let bytes = try await reader.read(range)
      guard bytes.count == range.count else {
        return failure(.io, "\(bytes.count) bytes were returned instead of \(range.count)")
      }
      return .success(bytes)
    } catch let error as AnimatedImageError where error.code != .cancelled {
      return failure(error.code, error.detail, error)
    } catch {
      // If the error is a cancellation, either it was caused by another request, or no request waits for this read any
      // more.
      let error = AnimatedImageError(thrown: error)
      return failure(.io, error.detail, error)
    }
  }

  private func finish(_ number: Int, _ range: Range<Int>, _ outcome: Outcome) {
    let waiters = state.withLock { state in
      // Store the bytes before removing the read from the list: a request that came in between would read them again.
      if case .success(let bytes) = outcome { cache.set(bytes, at: range.lowerBound) }
      return state.take(number)?.waiters ?? []
    }
    if case .success = outcome { noteChange(.cached) }
    for waiter in waiters { waiter.close(with: outcome) }
  }

  /// Ends a wait. When the last wait for a read ends, the read is cancelled unless it is held.
  private func leave(_ wait: Wait) {
    let task = state.withLock { state -> Task<Void, Never>? in
      guard let place = state.flights.firstIndex(where: { $0.number == wait.number }) else {
        return nil
      }
      state.flights[place].waiters.removeAll { $0 === wait.handover }
      let flight = state.flights[place]
      return flight.waiters.isEmpty && !flight.isHeld ? state.take(wait.number)?.task : nil
    }
    task?.cancel()
  }
}

/// An object that prefetches into the cache the bytes that will be needed soon.
///
/// The window of bytes to prefetch moves with the playhead. Reads that lie outside the window are released, and when
/// this object is deallocated, it releases all its reads. A released read is cancelled unless a request waits for it.
/// Errors are ignored, because the next request for the bytes reads them again.
package final class ReadAhead: Sendable {
  private let fetcher: RangeFetcher
  /// The reads that this object has started and not yet released. Some of them may have completed.
  private let readings = Mutex<[(number: Int, range: Range<Int>)]>([])

  package init(_ fetcher: RangeFetcher) { self.fetcher = fetcher }

  deinit { for reading in readings.withLock({ $0 }) { fetcher.release(reading.number) } }

  /// Moves the window to `window`, clipped to the file. The missing bytes of the window are read only if they make up
  /// at least half of the window, so that reads stay large, or if the window reaches the end of the file.
  package func follow(_ window: Range<Int>) {
    let window = window.clamped(to: 0..<fetcher.byteCount)
    let isLast = window.upperBound == fetcher.byteCount
    move(to: window, reading: window, ifMissing: isLast ? 1 : max(window.count / 2, 1))
  }

  /// Moves the window to `window` and starts reading the missing bytes of `range`, which is a part of the window.
  package func request(_ range: Range<Int>, within window: Range<Int>) {
    move(to: window, reading: range, ifMissing: 1)
  }

  /// Releases all reads.
  package func stop() { move(to: 0..<0, reading: 0..<0, ifMissing: 1) }

  private func move(to window: Range<Int>, reading range: Range<Int>, ifMissing count: Int) {
    let left = readings.withLock { readings in
      let all = readings
      readings =
        all.filter { $0.range.overlaps(window) } + fetcher.hold(range, ifMissing: count)
      return all.filter { !$0.range.overlaps(window) }
    }
    for reading in left { fetcher.release(reading.number) }
  }
}
