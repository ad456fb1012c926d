/// A change to an animation, such as a cut, a change of speed or a crop.
///
/// Edits are values that are applied in order. Frames and times refer to the result of the previous edits.
/// ``AnimatedImage/plan(_:options:)`` reports their cost; ``AnimatedImage/write(_:to:options:progress:)`` applies them.
///
/// After each edit there may be at most 262,144 frames, or as many as the source has, and one play may take at most 10⁹
/// seconds. Otherwise both methods throw ``AnimatedImageError/Code/limitExceeded``.
public struct AnimationEdit: Sendable, Hashable {
  /// Not public: more kinds will come.
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

  /// Keeps the frames in `range`, which must not be empty. The first frame is 0.
  public static func frames(_ range: Range<Int>) -> Self { Self(kind: .frames(range)) }

  /// Keeps the frames at `indices`, in that order. There must be at least one. Other frames and their time are removed.
  public static func frames(at indices: [Int]) -> Self { Self(kind: .frameList(indices)) }

  /// Keeps the part shown in `range`, relative to the start of the first frame.
  ///
  /// A cut in the middle of a frame shortens its delay. Times past the end are clamped.
  public static func time(_ range: Range<Duration>) -> Self { Self(kind: .time(range)) }

  /// Plays `factor` times as fast; 0.001 to 1000, rounded to a millionth.
  public static func speed(_ factor: Double) -> Self { Self(kind: .speed(factor)) }

  /// Scales all delays so that one play takes `duration` exactly.
  public static func duration(_ duration: Duration) -> Self { Self(kind: .duration(duration)) }

  /// Drops frames so that at most `rate` per second remain; the duration is kept.
  ///
  /// Frames are never repeated, so an animation that is already slower does not change.
  public static func framesPerSecond(_ rate: Double) -> Self { Self(kind: .framesPerSecond(rate)) }

  /// Drops frames so that about `count` remain at equal intervals; the duration is kept.
  package static func frameCount(_ count: Int) -> Self { Self(kind: .frameCount(count)) }

  /// Plays backwards.
  public static let reverse = Self(kind: .reverse)

  /// Plays forwards, then backwards; the first and the last frame are shown once.
  public static let backAndForth = Self(kind: .backAndForth)

  /// Keeps the part of the canvas in `rect`, which is clipped to it.
  public static func crop(_ rect: PixelRect) -> Self { Self(kind: .crop(rect)) }

  /// Scales all pictures into `target`. Crops must come before it. Pictures that already have the size stay as they
  /// are.
  ///
  /// A GIF gets palettes of up to 256 colours that frames share, unless there are fewer colours; see ``EditOptions``
  /// for other choices. Colours are premultiplied while they are scaled.
  ///
  /// - Parameters:
  ///   - target: The box that pictures are scaled into, or a width or height.
  ///   - fit: How they are fitted. Default: ``ScalingFit/fit``.
  ///   - filter: Default: ``ScalingFilter/bilinear``. ``ScalingFilter/nearest`` adds no colours.
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
  /// GIF can store 1 to 65,536 plays, APNG 1 to 2,147,483,647; both can play forever.
  public static func playCount(_ count: PlayCount) -> Self { Self(kind: .playCount(count)) }

  /// Shows every frame for `delay`.
  public static func delay(_ delay: FrameDelay) -> Self { Self(kind: .delay(delay)) }

  /// Sets the delays of all frames; there must be one for each.
  public static func delays(_ delays: [FrameDelay]) -> Self { Self(kind: .delays(delays)) }
}

extension AnimationEdit: CustomStringConvertible {
  /// The edit in a few words.
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
    case .playCount(.finite(let count)): "plays \(count)"
    case .delay(let delay): "delay \(delay)"
    case .delays(let delays): "\(delays.count) delays"
    }
  }
}

extension TargetSize {
  /// The sides, as in "60x" or "120x80".
  fileprivate var text: String {
    if width == nil, height == nil { return "\((scale ?? 1) * 100) %" }
    return "\(width.map { "\($0)" } ?? "")x\(height.map { "\($0)" } ?? "")"
  }
}
