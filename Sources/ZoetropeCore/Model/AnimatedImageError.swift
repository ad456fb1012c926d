#if canImport(FoundationEssentials)
  public import protocol FoundationEssentials.LocalizedError
#else
  public import protocol Foundation.LocalizedError
#endif

/// The one error of decoding, scheduling and writing: what went wrong, and where in the file.
///
/// Codes are open: more may come, so a `switch` needs a default. Errors compare by value.
public struct AnimatedImageError: Error, Sendable, Hashable {
  /// What kind of fault it is.
  public struct Code: Sendable, Hashable {
    /// The code's name, as JSON output spells it.
    public let name: String
    package init(_ name: String) { self.name = name }

    /// The bytes are neither a GIF nor a PNG.
    public static let notAnImage = Code("notAnImage")
    /// A feature of the format that is not decoded.
    public static let unsupported = Code("unsupported")
    /// A valid start, but no frame to decode.
    public static let noFrames = Code("noFrames")
    /// The data ends too early.
    public static let truncated = Code("truncated")
    /// The data breaks the format's rules.
    public static let malformed = Code("malformed")
    /// One of ``DecodingLimits`` would be passed; the detail names it.
    public static let limitExceeded = Code("limitExceeded")
    /// The system refused to read or write; the detail has its words.
    public static let io = Code("io")
    /// An argument makes no sense, such as a frame index past the end.
    public static let parameter = Code("parameter")
    /// The work was cancelled before it was done.
    public static let cancelled = Code("cancelled")
  }

  /// What kind of fault it is.
  public let code: Code
  /// The format that was being read, where that is known.
  public let format: AnimationFormat?
  /// The frame in which it happened, from 0; nil outside of frames.
  public let frameIndex: Int?
  /// The byte of the file at which it was noticed, from 0.
  public let byteOffset: Int?
  /// A plain clause that describes the error.
  public let detail: String

  /// Makes an error.
  public init(
    _ code: Code, _ detail: String, format: AnimationFormat? = nil, frameIndex: Int? = nil,
    byteOffset: Int? = nil
  ) {
    self.code = code
    self.detail = detail
    self.format = format
    self.frameIndex = frameIndex
    self.byteOffset = byteOffset
  }
}

extension AnimatedImageError: CustomStringConvertible {
  /// One sentence: the code, what was found, and where.
  public var description: String {
    var text = "\(code.name): \(detail)"
    if let frameIndex { text += ", frame \(frameIndex)" }
    if let byteOffset { text += ", byte \(byteOffset)" }
    return text
  }
}

extension AnimatedImageError: LocalizedError {
  /// Same as ``description``, so that `localizedDescription` describes the error.
  public var errorDescription: String? { description }
}
