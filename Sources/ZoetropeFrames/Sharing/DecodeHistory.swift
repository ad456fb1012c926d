/// A thread that may itself decode the frames it requests, if they are likely to be decoded quickly. Waking another
/// thread instead takes longer than a quick decode, and costs as much as decoding many frames.
package protocol QuickThread: AnyObject, Sendable {
  /// Offers the thread `work`, which is expected to take `time`, and returns whether the thread accepts it. The thread
  /// accepts the work if the caller runs on this thread, if nothing else is due on this thread within `time`, and if
  /// `isReady` returns true. `isReady` is called last.
  func offer(
    _ work: @escaping @Sendable () -> Void, lasting time: Duration, if isReady: () -> Bool
  ) -> Bool
}

/// The recent decode times of a lane, which decide whether its next decode may run on the thread that requested the
/// frame.
struct DecodeHistory: Sendable {
  /// The longest time that a decode on a requesting thread may take, because the decode delays other playbacks on that
  /// thread.
  static let lightTime = Duration.milliseconds(1)

  /// What is known about the cost of a frame before it is decoded.
  struct Weight: Sendable {
    /// The number of pixels that the frame covers.
    var area: Int
    /// The number of compressed bytes of the frame.
    var bytes: Int
  }

  /// The confidence that decodes take at most ``lightTime``. A quick decode adds one, up to a limit. A slow decode only
  /// halves the confidence, because the thread may have been preempted during that decode.
  private var lightCount = 0
  private var lastIndex = -1
  /// The largest area and the largest number of bytes that are expected to be decoded quickly. They are needed because
  /// small frames do not predict the cost of the first frame of a play, which usually covers the whole canvas.
  private var lightWeight = Weight(area: 0, bytes: 0)

  /// Returns whether decoding frame `index` is likely to be quick. After a jump to a frame other than frame 0, returns
  /// false, because any number of frames may have to be decoded first.
  func isLight(_ index: Int, _ weight: Weight) -> Bool {
    lightCount >= 16 && (index == lastIndex + 1 || index == 0)
      && weight.area <= lightWeight.area && weight.bytes <= lightWeight.bytes
  }

  /// Records that decoding frame `index` took `time`.
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
