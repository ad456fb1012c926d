#if canImport(FoundationEssentials)
  public import protocol FoundationEssentials.LocalizedError
#else
  public import protocol Foundation.LocalizedError
#endif

/// The error type of decoding, scheduling and writing: what went wrong, and where in the file.
///
/// Codes are open: more may be added, so a `switch` needs a default. Errors compare by value.
public struct AnimatedImageError: Error, Sendable, Hashable {
  /// The kind of error.
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
    /// A limit of ``DecodingLimits`` would be exceeded; the detail names it.
    public static let limitExceeded = Code("limitExceeded")
    /// A read or write failed; the detail holds the system's message.
    public static let io = Code("io")
    /// An invalid argument, such as a frame index past the end.
    public static let parameter = Code("parameter")
    /// The operation was cancelled before it finished.
    public static let cancelled = Code("cancelled")
  }

  /// The kind of error.
  public let code: Code
  /// The format being read, if known.
  public let format: AnimationFormat?
  /// The frame in which the error occurred, from 0; nil outside frames.
  public let frameIndex: Int?
  /// The file offset at which the error was detected.
  public let byteOffset: Int?
  /// A plain clause that describes the error.
  public let detail: String
  /// The `errno` of the system call that failed, if one did.
  package var systemError: Int32?

  /// Creates an error.
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

extension AnimatedImageError {
  /// The same error, in frame `index` if it names none.
  package func inFrame(_ index: Int) -> Self {
    guard frameIndex == nil else { return self }
    var error = Self(code, detail, format: format, frameIndex: index, byteOffset: byteOffset)
    error.systemError = systemError
    return error
  }
}

extension AnimatedImageError.Code: CustomStringConvertible {
  /// Same as ``name``.
  public var description: String { name }
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
