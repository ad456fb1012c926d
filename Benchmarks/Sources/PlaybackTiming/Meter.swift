import Synchronization

/// Measures what this process uses per frame. The first frames do not count, because they fill memory and caches.
final class Meter: Sendable {
  /// Resources used per frame.
  struct Usage {
    var microseconds, switches, faults: Double
  }

  private struct State {
    var count = 0
    var time = Duration.zero
    var switches = 0
    var faults = 0
  }

  private let skipped: Int
  private let state = Mutex(State())

  init(skipping skipped: Int) { self.skipped = skipped }

  /// Call this after each frame.
  func tick() {
    state.withLock { state in
      state.count += 1
      guard state.count == skipped else { return }
      state.time = Resources.processorTime
      state.switches = Resources.switches
      state.faults = Resources.pageFaults
    }
  }

  /// The resources used per frame since measuring began.
  var usage: Usage {
    state.withLock { state in
      let frames = Double(state.count - skipped)
      return Usage(
        microseconds: (Resources.processorTime - state.time) / .microseconds(1) / frames,
        switches: Double(Resources.switches - state.switches) / frames,
        faults: Double(Resources.pageFaults - state.faults) / frames)
    }
  }
}
