public import struct SystemPackage.Errno

#if canImport(FoundationEssentials)
  public import protocol FoundationEssentials.LocalizedError
#else
  public import protocol Foundation.LocalizedError
#endif

/// An error in decoding, scheduling or writing, with its position in the file.
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
  /// The frame in which the error occurred, from 0, or nil outside frames.
  public let frameIndex: Int?
  /// The file offset at which the error was detected.
  public let byteOffset: Int?
  /// A plain clause that describes the error.
  public let detail: String
  /// The limit that would be exceeded, for a ``Code/limitExceeded`` error thrown by this package.
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
  /// Returns the same error, with frame `index` if it has no frame yet.
  package func inFrame(_ index: Int) -> Self {
    guard frameIndex == nil else { return self }
    return Self(
      code, detail, format: format, frameIndex: index, byteOffset: byteOffset, limit: limit,
      systemError: systemError)
  }
}

extension AnimatedImageError {
  /// Returns the error for an exceeded limit. By default its detail is the limit's description.
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
