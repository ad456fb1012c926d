/// What a scanner knows of a file so far. It grows as more bytes are fed.
package struct ScannedImage: Sendable, Hashable {
  /// Nil until the header was read.
  package var header: ImageHeader?
  /// The frames whose data was seen to its end, in order.
  package var frames: [FrameControl] = []
  /// The frame in whose data the file ends; decoding tells whether its pixels are complete.
  package var cutFrame: FrameControl?
  /// PNG: the picture of a reader that knows no animation, when it is not a frame of it.
  package var staticImage: FrameControl?
  /// The loop count as stored: repeats in GIF, plays in APNG; nil when the file has none.
  package var storedLoopCount: UInt32?
  package var metadata = AnimationMetadata()
  package var damage: [Damage] = []
  /// Bytes of the file that were consumed.
  package var byteCount = 0

  /// How often the animation plays in total, from ``storedLoopCount``.
  package var playCount: PlayCount {
    switch (header?.format, storedLoopCount) {
    case (_, nil), (.png, _), (nil, _): .once
    case (_, 0): .indefinite
    case (.gif, let repeats?): .finite(Int(repeats) + 1)
    case (.apng, let plays?): .finite(Int(plays))
    }
  }

  package init() {}

  /// PNG: the still picture is the one frame, since the animation has none.
  package mutating func showStaticImage() {
    header?.format = .png
    storedLoopCount = nil
    if let picture = staticImage {
      frames = []
      frames.append(picture)
      staticImage = nil
    }
  }

  /// Notes a deviation. Past a thousand of them only those count that cost something: a file of empty
  /// blocks could make any number, and hide a lost frame behind them.
  package mutating func note(
    _ kind: Damage.Kind, _ detail: String, frame: Int? = nil, at offset: Int
  ) {
    guard damage.count < 1000 || kind.isRefusedByStrict && damage.count < 2000 else { return }
    damage.append(Damage(kind, detail, frameIndex: frame, byteOffset: offset))
  }
}
