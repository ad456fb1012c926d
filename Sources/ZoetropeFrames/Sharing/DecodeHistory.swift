/// A thread that itself decodes the frames it requests, if they are likely to be quick: waking another thread takes
/// longer, and costs as much as decoding many frames.
package protocol QuickThread: AnyObject, Sendable {
  /// Accepts `work`, which is expected to take `time`, if the caller runs on this thread, nothing else is due within
  /// that time, and `isReady` returns true (checked last).
  func offer(
    _ work: @escaping @Sendable () -> Void, lasting time: Duration, if isReady: () -> Bool
  ) -> Bool
}

/// A lane's recent decode times, which decide whether the next decode may run on the requesting thread.
struct DecodeHistory: Sendable {
  /// The longest decode that may delay other playbacks.
  static let lightTime = Duration.milliseconds(1)

  /// What is known about a frame's cost before decoding.
  struct Weight: Sendable {
    /// Pixels covered.
    var area: Int
    /// Compressed bytes.
    var bytes: Int
  }

  /// Confidence that decodes take at most `lightTime`. A quick decode adds one, up to a limit; a slow one
  /// halves it, because a single one may have been preempted.
  private var lightCount = 0
  private var lastIndex = -1
  /// The heaviest frame known to be quick. Small frames do not predict the cost of the first frame of a play, which
  /// usually covers the whole canvas.
  private var lightWeight = Weight(area: 0, bytes: 0)

  /// Returns whether decoding frame `index` is likely to be quick. False after a jump, which may require decoding any
  /// number of frames.
  func isLight(_ index: Int, _ weight: Weight) -> Bool {
    lightCount >= 16 && (index == lastIndex + 1 || index == 0)
      && weight.area <= lightWeight.area && weight.bytes <= lightWeight.bytes
  }

  /// Records that frame `index` took `time`.
  mutating func note(_ index: Int, _ weight: Weight, _ time: Duration) {
    lastIndex = index
    if time <= Self.lightTime {
      lightCount = min(lightCount + 1, 32)
      lightWeight.area = max(lightWeight.area, weight.area)
      lightWeight.bytes = max(lightWeight.bytes, weight.bytes)
    } else {
      lightCount /= 2
      lightWeight.area = min(lightWeight.area, weight.area - 1)
      lightWeight.bytes = min(lightWeight.bytes, weight.bytes - 1)
    }
  }
}
