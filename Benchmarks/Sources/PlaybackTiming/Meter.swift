import Synchronization

/// What this process uses for each frame, from some frame on: the first ones fill memory and caches.
final class Meter: Sendable {
  /// For each frame.
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

  /// A frame is done.
  func tick() {
    state.withLock { state in
      state.count += 1
      guard state.count == skipped else { return }
      state.time = Resources.processorTime
      state.switches = Resources.switches
      state.faults = Resources.pageFaults
    }
  }

  /// What was used from then on.
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
