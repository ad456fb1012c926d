public import struct SystemPackage.Errno

#if canImport(FoundationEssentials)
  public import protocol FoundationEssentials.LocalizedError
#else
  public import protocol Foundation.LocalizedError
#endif

/// The error of decoding, scheduling and writing, with its position in the file.
///
/// Codes are open: more may be added, so a `switch` needs a default. Errors compare by value.
public struct AnimatedImageError: Error, Sendable, Hashable {
  /// The kind of error.
  public struct Code: NamedValue, Sendable, Hashable, CustomStringConvertible {
    /// The code's name, as JSON output spells it.
    public let name: String
    package init(_ name: String) { self.name = name }
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
  /// The limit that is exceeded, for a ``Code/limitExceeded`` of this package.
  public let limit: LimitExcess?
  /// The error of the system call that failed, if one did.
  public let systemError: Errno?

  /// Creates an error.
  public init(
    _ code: Code, _ detail: String, format: AnimationFormat? = nil, frameIndex: Int? = nil,
    byteOffset: Int? = nil, limit: LimitExcess? = nil, systemError: Errno? = nil
  ) {
    self.code = code
    self.detail = detail
    self.format = format
    self.frameIndex = frameIndex
    self.byteOffset = byteOffset
    self.limit = limit
    self.systemError = systemError
  }
}

extension AnimatedImageError {
  /// The same error, in frame `index` if it names none.
  package func inFrame(_ index: Int) -> Self {
    guard frameIndex == nil else { return self }
    return Self(
      code, detail, format: format, frameIndex: index, byteOffset: byteOffset, limit: limit,
      systemError: systemError)
  }
}

extension AnimatedImageError {
  /// The error for a limit that is exceeded; by default the detail is the limit's description.
  package static func exceeding(
    _ kind: LimitExcess.Kind, asked: Int, allowed: Int, _ detail: String? = nil,
    format: AnimationFormat? = nil, frameIndex: Int? = nil, byteOffset: Int? = nil
  ) -> Self {
    let limit = LimitExcess(kind, asked: asked, allowed: allowed)
    return Self(
      .limitExceeded, detail ?? "\(limit)", format: format, frameIndex: frameIndex,
      byteOffset: byteOffset, limit: limit)
  }
}

extension AnimatedImageError: CustomStringConvertible {
  /// One sentence: the code, the cause, and the position.
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
