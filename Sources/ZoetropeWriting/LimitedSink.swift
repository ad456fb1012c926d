internal import Synchronization

/// A sink that keeps the file in memory. If the file becomes longer than a limit, the sink fails, or drops the file and
/// only counts its bytes.
final class LimitedSink: AnimationSink {
  private struct State {
    var bytes: [UInt8] = []
    var byteCount = 0
    var isTooLong = false
  }
  private let state = Mutex(State())
  private let limit: Int
  private let countsAll: Bool

  init(_ limit: Int, countsAll: Bool = false) {
    (self.limit, self.countsAll) = (limit, countsAll)
  }

  /// The bytes of the file, or none if it is too long.
  var bytes: [UInt8] { state.withLock { $0.bytes } }
  var byteCount: Int { state.withLock { $0.byteCount } }
  var isTooLong: Bool { state.withLock { $0.isTooLong } }
  var canPatch: Bool { true }

  func write(_ bytes: [UInt8]) throws(AnimatedImageError) {
    let fits = state.withLock { state in
      state.byteCount += bytes.count
      if state.byteCount > limit {
        (state.isTooLong, state.bytes) = (true, [])
      } else {
        state.bytes += bytes
      }
      return countsAll || !state.isTooLong
    }
    guard fits else {
      throw AnimatedImageError(.unwritable, "the output would have more than \(limit) bytes")
    }
  }

  func patch(_ bytes: [UInt8], at offset: Int) {
    state.withLock {
      if !$0.isTooLong { $0.bytes.replaceSubrange(offset..<offset + bytes.count, with: bytes) }
    }
  }

  func finish() {}
  func abandon() { state.withLock { $0.bytes = [] } }
}
