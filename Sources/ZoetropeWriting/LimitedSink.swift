internal import Synchronization

/// A sink that keeps the file in memory, and fails if the file becomes longer than a limit.
final class LimitedSink: AnimationSink {
  private struct State {
    var bytes: [UInt8] = []
    var isTooLong = false
  }
  private let state = Mutex(State())
  private let limit: Int

  init(_ limit: Int) { self.limit = limit }

  var bytes: [UInt8] { state.withLock { $0.bytes } }
  var isTooLong: Bool { state.withLock { $0.isTooLong } }
  var canPatch: Bool { true }

  func write(_ bytes: [UInt8]) throws(AnimatedImageError) {
    let fits = state.withLock { state in
      if state.bytes.count + bytes.count > limit {
        state.isTooLong = true
      } else {
        state.bytes += bytes
      }
      return !state.isTooLong
    }
    guard fits else {
      throw AnimatedImageError(.unwritable, "the output would have more than \(limit) bytes")
    }
  }

  func patch(_ bytes: [UInt8], at offset: Int) {
    state.withLock { $0.bytes.replaceSubrange(offset..<offset + bytes.count, with: bytes) }
  }

  func finish() {}
  func abandon() { state.withLock { $0.bytes = [] } }
}
