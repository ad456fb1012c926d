/// What a lane knows of its last decodes: whether the next one may be done where it holds up others.
struct DecodeHistory: Sendable {
  /// A decode that lasts no longer may hold up other playbacks: half a step (see `FrameScheduler`).
  static let lightTime = Duration.milliseconds(1)

  /// How sure it is that decodes take no longer than `lightTime`: each that does not adds one, up to
  /// a limit, and each that does halves it. One that the machine interrupted proves nothing.
  private var lightCount = 0
  private var lastIndex = -1

  /// Whether decoding frame `index` is likely to be quick. One that does not follow in order is not:
  /// a jump may decode any number of frames on its way.
  func isLight(_ index: Int) -> Bool {
    lightCount >= 16 && (index == lastIndex + 1 || index == 0)
  }

  /// Frame `index` took `time`.
  mutating func note(_ index: Int, _ time: Duration) {
    lightCount = time <= Self.lightTime ? min(lightCount + 1, 32) : lightCount / 2
    lastIndex = index
  }
}
