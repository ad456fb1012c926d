public import Zoetrope

// What benchmarks, which are a separate package, measure beyond the library's public API.

extension SeekingReader {
  /// Frames decoded so far, for seeks and for replays.
  public var decodes: Int { decodedCount }
}

extension SharedFrames {
  /// Returns once no frame is being decoded.
  public func waitUntilUnused() async { await waitUntilIdle() }
}

extension MemoryBudget {
  /// The number of bytes that may be held at the current memory pressure.
  public var usableBytes: Int { effectiveLimit }
}

extension PlaybackTrace {
  /// How late each frame was delivered.
  public var lateness: [Duration] { entries.map { .nanoseconds($0.lateness) } }
}
