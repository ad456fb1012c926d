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

extension AnimatedImageError.Code {
  /// The bytes are not in any format that can be decoded.
  public static let notAnImage = Self("notAnImage")
  /// A feature of the format that is not decoded.
  public static let unsupported = Self("unsupported")
  /// The start of the data is valid, but there is no frame to decode.
  public static let noFrames = Self("noFrames")
  /// The data ends too early.
  public static let truncated = Self("truncated")
  /// The data breaks the format's rules.
  public static let malformed = Self("malformed")
  /// A limit would be exceeded. ``AnimatedImageError/limit`` has the requested and the allowed value.
  public static let limitExceeded = Self("limitExceeded")
  /// The system cannot provide a thread, or memory that the limits allow. A later attempt may succeed.
  public static let outOfMemory = Self("outOfMemory")
  /// Reading or writing failed; ``AnimatedImageError/systemError`` is the system's error, if it reported one.
  public static let io = Self("io")
  /// The format cannot hold the animation, or cannot be written yet.
  public static let unwritable = Self("unwritable")
  /// An invalid argument, such as a frame index past the end.
  public static let parameter = Self("parameter")
  /// The operation was cancelled before it finished.
  public static let cancelled = Self("cancelled")
  /// A stored ``ImageIndex`` is damaged, of another version, or not of this file.
  public static let invalidImageIndex = Self("invalidImageIndex")
  /// A frame store is out of space: its disk is full, or its byte limit leaves no room for the
  /// frame.
  public static let storeFull = Self("storeFull")
  /// A frame store's directory or file is not writable, or does not belong to this user alone.
  public static let storeDenied = Self("storeDenied")
  /// All slots of a frame store that could hold the frame are in use. Try again later.
  public static let storeBusy = Self("storeBusy")
  /// Another process truncated, removed or overwrote a table of a frame store.
  public static let storeDamaged = Self("storeDamaged")
  /// The file system lacks a feature that a frame store needs, such as locks.
  public static let storeUnsupported = Self("storeUnsupported")

  /// Bytes of a remote file have not been fetched yet. Internal: the caller fetches them and tries again.
  package static let bytesMissing = Self("bytesMissing")
  /// C only: the process was forked after the library was used, so its threads are gone.
  package static let forked = Self("forked")
  /// C only: a call took longer than `timeout_ns` of its options.
  package static let timedOut = Self("timedOut")
}
