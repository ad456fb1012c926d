/// A limit that a file or a call exceeds, with the value found and the allowed value.
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
    /// longer than the value found.
    public static let inputBytes = Kind("inputBytes")
    /// The number of bytes of a written file. The limit is ``ByteBudget/byteLimit``. The value found is the size of
    /// the smallest file among those that were tried, or `Int.max` if none of them could be completed.
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

  /// The kind of the limit.
  public let kind: Kind
  /// The value that the file has or the call needs, in the limit's unit. It is less than ``allowed`` if that is a
  /// minimum, such as the number of frames that an upload preset requires.
  public let found: Int
  /// The allowed value, in the limit's unit.
  public let allowed: Int

  /// Records that the value `found` exceeds a limit of this kind, whose value is `allowed`.
  package init(_ kind: Kind, found: Int, allowed: Int) {
    (self.kind, self.found, self.allowed) = (kind, found, allowed)
  }

  /// Returns a clause that describes the excess and calls the limit `name`.
  package func description(naming name: String) -> String {
    "\(name) would be \(found), but the limit is \(allowed)"
  }
}

extension LimitExcess: CustomStringConvertible {
  /// A clause for users with the value found and the allowed value, such as "the number of frames would be 3,000, but
  /// the limit is 2,000".
  public var description: String {
    if kind == .outputBytes {
      // The size is unknown if the format could hold none of the results that were tried.
      let size =
        found == .max ? "no file was found" : "the smallest file found has \(found.grouped) bytes"
      return "\(size), but the limit is \(allowed.grouped)"
    }
    let subject =
      switch kind {
      case .canvasPixels: "the canvas would have"
      case .frameCount, .editedFrames, .outputFrames: "the number of frames would be"
      case .editedDuration: "the duration of one play in seconds would be"
      case .outputDuration: "one play would take"
      case .liveBytes: "the memory needed would be"
      case .pixelsPerPlay: "all frames of one play would together have"
      case .scaledPixels: "the scaled picture would have"
      case .scaledSide: "the longer side of the scaled picture would be"
      case .outputSides: "the longer side of the pictures would be"
      case .inputBytes: "the size of the input would be"
      case .pngPixels: "the picture would have"
      default: "\(kind) would be"
      }
    let bound = found < allowed ? "minimum" : "limit"
    return "\(subject) \(amount(found)), but the \(bound) is \(amount(allowed))"
  }

  private func amount(_ value: Int) -> String {
    switch kind {
    case .liveBytes, .inputBytes: value.byteSize
    case .canvasPixels, .scaledPixels, .pngPixels, .pixelsPerPlay: value.pixelCount
    case .outputDuration: "\(Double(value / 10_000_000) / 100) s"
    default: value.grouped
    }
  }
}
