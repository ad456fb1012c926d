/// A limit that a file or a call exceeds, with the requested and the allowed value.
public struct LimitExcess: Sendable, Hashable {
  /// The kind of limit. Open: more may be added.
  public struct Kind: NamedValue, Sendable, Hashable, CustomStringConvertible {
    /// The limit's name, as JSON output spells it.
    public let name: String
    /// Whether the limit is fixed, so that no option raises it.
    package let isFixed: Bool

    private init(_ name: String, isFixed: Bool = false) {
      (self.name, self.isFixed) = (name, isFixed)
    }

    /// ``DecodingLimits/canvasPixels``.
    public static let canvasPixels = Kind("canvasPixels")
    /// ``DecodingLimits/frameCount``.
    public static let frameCount = Kind("frameCount")
    /// ``DecodingLimits/liveBytes``.
    public static let liveBytes = Kind("liveBytes")
    /// ``DecodingLimits/pixelsPerPlay``.
    public static let pixelsPerPlay = Kind("pixelsPerPlay")
    /// Pixels of a scaled frame: ``DecodingLimits/canvasPixels``.
    package static let scaledPixels = Kind("scaledPixels")
    /// The longer side of a scaled frame. Fixed.
    package static let scaledSide = Kind("scaledSide", isFixed: true)
    /// Bytes read from a pipe (``DecodingLimits/liveBytes``) or from a stream (``StreamStorage/byteLimit``). Reading
    /// stops at the limit, so the input may be longer than the requested value.
    public static let inputBytes = Kind("inputBytes")
    /// Bytes of a written file: ``ByteBudget/byteLimit``. The requested value is the size of the smallest file found.
    public static let outputBytes = Kind("outputBytes", isFixed: true)
    /// Frames of an edited animation: 262,144, or as many as the source has. Fixed.
    public static let editedFrames = Kind("editedFrames", isFixed: true)
    /// Seconds of one play of an edited animation: 10⁹. Fixed.
    public static let editedDuration = Kind("editedDuration", isFixed: true)
    /// Frames of a written file that an upload preset limits.
    package static let outputFrames = Kind("outputFrames", isFixed: true)
    /// Nanoseconds of one play of a written file that an upload preset limits.
    package static let outputDuration = Kind("outputDuration", isFixed: true)
    /// The longer side of a written picture whose size an upload preset prescribes.
    package static let outputSides = Kind("outputSides", isFixed: true)
    /// Pixels of a picture to be written as PNG. Fixed.
    package static let pngPixels = Kind("pngPixels", isFixed: true)
  }

  /// The limit that is exceeded.
  public let kind: Kind
  /// The requested value, in the limit's unit.
  public let asked: Int
  /// The allowed value, in the limit's unit.
  public let allowed: Int

  /// Creates the excess of one limit.
  package init(_ kind: Kind, asked: Int, allowed: Int) {
    (self.kind, self.asked, self.allowed) = (kind, asked, allowed)
  }

  /// Returns the excess in words, with the limit called `name`.
  package func description(naming name: String) -> String {
    "\(name) would be \(asked), the limit is \(allowed)"
  }
}

extension LimitExcess: CustomStringConvertible {
  /// A clause with the name and both numbers.
  public var description: String { description(naming: kind.name) }
}
