/// A change to an animation, such as a cut, a change of speed or a crop.
///
/// Edits are values that are applied in order. Frames and times refer to the result of the previous edits.
/// ``AnimatedImage/plan(_:options:)`` tells what the edits cost, and ``AnimatedImage/write(_:to:options:progress:)``
/// applies them.
///
/// After each edit there may be at most 262,144 frames, or as many as the source has, and one play may take at most 10⁹
/// seconds. If an edit exceeds these limits, both methods throw ``AnimatedImageError/Code/limitExceeded``.
public struct AnimationEdit: Sendable, Hashable {
  /// The kind of an edit. Not public, because more kinds will be added.
  package enum Kind: Sendable, Hashable {
    case frames(Range<Int>)
    case frameList([Int])
    case time(Range<Duration>)
    case speed(Double)
    case duration(Duration)
    case framesPerSecond(Double)
    case frameCount(Int)
    case reverse
    case backAndForth
    case crop(PixelRect)
    case resize(Rendering)
    case playCount(PlayCount)
    case delay(FrameDelay)
    case delays([FrameDelay])
  }

  package let kind: Kind

  /// Keeps the frames in `range`, which must not be empty. Frames are numbered from 0.
  public static func frames(_ range: Range<Int>) -> Self { Self(kind: .frames(range)) }

  /// Keeps the frames at `indices`, in the order of `indices`, which must not be empty. All other frames are removed
  /// together with their time.
  public static func frames(at indices: [Int]) -> Self { Self(kind: .frameList(indices)) }

  /// Keeps the part of the animation that is shown during `range`. Times are relative to the start of the first frame.
  ///
  /// A cut in the middle of a frame shortens the delay of that frame. Times past the end of the animation are clamped. A
  /// time within half a microsecond of the start or end of a frame is taken as that start or end, because times in
  /// reports are rounded to microseconds.
  public static func time(_ range: Range<Duration>) -> Self { Self(kind: .time(range)) }

  /// Plays the animation `factor` times as fast. The factor must be 0.001 to 1000, and is rounded to a millionth.
  public static func speed(_ factor: Double) -> Self { Self(kind: .speed(factor)) }

  /// Scales all delays so that one play takes `duration` exactly.
  public static func duration(_ duration: Duration) -> Self { Self(kind: .duration(duration)) }

  /// Drops frames so that at most `rate` frames per second remain. The duration does not change.
  ///
  /// Frames are never repeated, so an animation with a lower frame rate does not change. Several frames that are all
  /// shown for no time have no frame rate, and are refused.
  public static func framesPerSecond(_ rate: Double) -> Self { Self(kind: .framesPerSecond(rate)) }

  /// Drops frames so that about `count` frames remain at equal intervals. The duration does not change.
  package static func frameCount(_ count: Int) -> Self { Self(kind: .frameCount(count)) }

  /// Plays the animation backwards.
  public static let reverse = Self(kind: .reverse)

  /// Plays the animation forwards, then backwards. In each play, the first and the last frame are shown once.
  public static let backAndForth = Self(kind: .backAndForth)

  /// Keeps the part of the canvas in `rect`, which is clipped to the canvas.
  public static func crop(_ rect: PixelRect) -> Self { Self(kind: .crop(rect)) }

  /// Scales all pictures into `target`. Only one edit may scale pictures, and crops must come before this edit.
  /// Pictures that already have the requested size stay unchanged.
  ///
  /// If all frames of a scaled GIF together have more than 256 colours, the frames share palettes of up to 256 colours,
  /// unless the filter is ``ScalingFilter/nearest``; see ``EditOptions`` for other choices. Colours are premultiplied
  /// with alpha while they are scaled.
  ///
  /// - Parameters:
  ///   - target: The box into which pictures are scaled, only a width or height, or a scale.
  ///   - fit: How pictures are fitted into the box. Default: ``ScalingFit/fit``.
  ///   - filter: The filter for resampling. Default: ``ScalingFilter/bilinear``. ``ScalingFilter/nearest`` adds no new
  ///     colours.
  ///   - linearLight: Whether to resample in linear light. Default: false.
  public static func resize(
    _ target: TargetSize, fit: ScalingFit = .fit, filter: ScalingFilter = .bilinear,
    linearLight: Bool = false
  ) -> Self {
    Self(
      kind: .resize(
        Rendering(target: target, fit: fit, filter: filter, linearLight: linearLight)))
  }

  /// Sets the total number of plays.
  ///
  /// A GIF can store 1 to 65,536 plays, and an APNG 1 to 2,147,483,647. Either can also play forever.
  public static func playCount(_ count: PlayCount) -> Self { Self(kind: .playCount(count)) }

  /// Shows every frame for `delay`.
  public static func delay(_ delay: FrameDelay) -> Self { Self(kind: .delay(delay)) }

  /// Sets the delays of all frames. The number of delays must equal the number of frames.
  public static func delays(_ delays: [FrameDelay]) -> Self { Self(kind: .delays(delays)) }
}

extension AnimationEdit: CustomStringConvertible {
  /// A description of the edit in a few words.
  public var description: String {
    switch kind {
    case .frames(let range): "frames \(range.lowerBound)..<\(range.upperBound)"
    case .frameList(let indices): "\(indices.count) of the frames"
    case .time(let range): "time \(range.lowerBound) to \(range.upperBound)"
    case .speed(let factor): "speed \(factor)"
    case .duration(let duration): "duration \(duration)"
    case .framesPerSecond(let rate): "\(rate) frames per second"
    case .frameCount(let count): "\(count) frames"
    case .reverse: "reverse"
    case .backAndForth: "back and forth"
    case .crop(let rect): "crop \(rect)"
    case .resize(let rendering): "resize to \(rendering.target?.text ?? "its size")"
    case .playCount(.indefinite): "endless plays"
    case .playCount(.finite(let count)): count == 1 ? "1 play" : "\(count) plays"
    case .delay(let delay): "delay \(delay)"
    case .delays(let delays): "\(delays.count) delays"
    }
  }
}

extension TargetSize {
  /// The sides of the box as a text, such as "60x" or "120x80".
  fileprivate var text: String {
    if width == nil, height == nil { return "\((scale ?? 1) * 100) %" }
    return "\(width.map { "\($0)" } ?? "")x\(height.map { "\($0)" } ?? "")"
  }
}
