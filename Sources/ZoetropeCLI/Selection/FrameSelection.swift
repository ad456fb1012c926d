import Zoetrope

/// Which frames of a file a command takes: by number, then by time, then every Nth, then the first.
struct FrameSelection: Hashable, Sendable {
  /// All frames when nil.
  var frames: FrameSelector?
  /// The whole animation when nil.
  var time: TimeRange?
  /// Every Nth of the frames chosen so far, the first one included.
  var every = 1
  /// No more than this many.
  var maximum = Int.max

  /// The indices of the frames, in order; each is shown as long as `policy` says.
  func indices(
    in frames: [FrameControl], policy: DelayPolicy
  ) throws(FrameSelector.MissingFrame) -> [Int] {
    var chosen = try self.frames?.indices(count: frames.count) ?? Array(frames.indices)
    if let time {
      var shown: [(start: Duration, end: Duration)] = []
      var now = Duration.zero
      for frame in frames {
        let end = now + policy.shownDuration(of: frame.delay)
        shown.append((now, end))
        now = end
      }
      chosen = chosen.filter { time.overlaps(from: shown[$0].start, to: shown[$0].end) }
    }
    if every > 1 {
      chosen = stride(from: 0, to: chosen.count, by: every).map { chosen[$0] }
    }
    return Array(chosen.prefix(maximum))
  }
}
