/// A limit that a file or a call would exceed, with the requested and the allowed value.
public struct LimitExcess: Sendable, Hashable {
  /// A kind of limit. Later releases may add kinds.
  public struct Kind: NamedValue, Sendable, Hashable, CustomStringConvertible {
    /// The limit's name, as JSON output spells it.
    public let name: String
    /// Whether ``DecodingLimits`` have no effect on the limit.
    package let isFixed: Bool

    private init(_ name: String, isFixed: Bool = false) {
      (self.name, self.isFixed) = (name, isFixed)
    }

    /// The limit ``DecodingLimits/canvasPixels``.
    public static let canvasPixels = Kind("canvasPixels")
    /// The limit ``DecodingLimits/frameCount``.
    public static let frameCount = Kind("frameCount")
    /// The limit ``DecodingLimits/liveBytes``.
    public static let liveBytes = Kind("liveBytes")
    /// The limit ``DecodingLimits/pixelsPerPlay``.
    public static let pixelsPerPlay = Kind("pixelsPerPlay")
    /// The number of pixels of a scaled frame. The limit is ``DecodingLimits/canvasPixels``.
    package static let scaledPixels = Kind("scaledPixels")
    /// The longer side of a scaled frame. The limit is fixed.
    package static let scaledSide = Kind("scaledSide", isFixed: true)
    /// The number of bytes read from a pipe or a stream. The limit for a pipe is ``DecodingLimits/liveBytes``, and the
    /// limit for a stream is ``StreamStorage/byteLimit``. Reading stops when the limit is exceeded, so the input may be
    /// longer than the requested value.
    public static let inputBytes = Kind("inputBytes")
    /// The number of bytes of a written file. The limit is ``ByteBudget/byteLimit``. The requested value is the size of
    /// the smallest file among those that were tried.
    public static let outputBytes = Kind("outputBytes", isFixed: true)
    /// The number of frames of an edited animation. The limit is fixed: 262,144, or the number of frames of the source
    /// if that is larger.
    public static let editedFrames = Kind("editedFrames", isFixed: true)
    /// The duration of one play of an edited animation, in seconds. The limit is fixed: 10⁹ seconds.
    public static let editedDuration = Kind("editedDuration", isFixed: true)
    /// The number of frames of a written file, if an upload preset limits it.
    package static let outputFrames = Kind("outputFrames", isFixed: true)
    /// The duration of one play of a written file, in nanoseconds, if an upload preset limits it.
    package static let outputDuration = Kind("outputDuration", isFixed: true)
    /// The longer side of a written picture, if an upload preset prescribes the size.
    package static let outputSides = Kind("outputSides", isFixed: true)
    /// The number of pixels of a picture to be written as PNG. The limit is fixed.
    package static let pngPixels = Kind("pngPixels", isFixed: true)
  }

  /// The kind of the limit that would be exceeded.
  public let kind: Kind
  /// The requested value, in the limit's unit.
  public let asked: Int
  /// The allowed value, in the limit's unit.
  public let allowed: Int

  /// Records that the requested value `asked` would exceed a limit of this kind, whose value is `allowed`.
  package init(_ kind: Kind, asked: Int, allowed: Int) {
    (self.kind, self.asked, self.allowed) = (kind, asked, allowed)
  }

  /// Returns a clause that describes the excess and calls the limit `name`.
  package func description(naming name: String) -> String {
    "\(name) would be \(asked), but the limit is \(allowed)"
  }
}

extension LimitExcess: CustomStringConvertible {
  /// A clause with the name of the limit, the requested value and the allowed value.
  public var description: String { description(naming: kind.name) }
}
