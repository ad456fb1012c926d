/// What a lane knows of its last decodes: whether the next one may be done where it holds up others.
struct DecodeHistory: Sendable {
  /// A decode that lasts no longer may hold up other playbacks: half a step (see `FrameScheduler`).
  static let lightTime = Duration.milliseconds(1)

  /// What of a frame's cost is known before it is decoded.
  struct Weight: Sendable {
    /// Pixels that it covers.
    var area: Int
    /// Compressed bytes.
    var bytes: Int
  }

  /// How sure it is that decodes take no longer than `lightTime`: each that does not adds one, up to
  /// a limit, and each that does halves it. One that the machine interrupted proves nothing.
  private var lightCount = 0
  private var lastIndex = -1
  /// What a frame may weigh to be quick: as much as frames did that were. The first of a play, the
  /// whole canvas as a rule, is no quicker for all the small ones after it.
  private var lightWeight = Weight(area: 0, bytes: 0)

  /// Whether decoding frame `index` is likely to be quick. One that does not follow in order is not:
  /// a jump may decode any number of frames on its way.
  func isLight(_ index: Int, _ weight: Weight) -> Bool {
    lightCount >= 16 && (index == lastIndex + 1 || index == 0)
      && weight.area <= lightWeight.area && weight.bytes <= lightWeight.bytes
  }

  /// Frame `index` took `time`.
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
