public import struct SystemPackage.Errno

#if canImport(FoundationEssentials)
  public import protocol FoundationEssentials.LocalizedError
#else
  public import protocol Foundation.LocalizedError
#endif

/// An error that occurred while an animation was being decoded, scheduled or written, with its position in the file if
/// the position is known.
///
/// Later releases may add codes, so a `switch` over codes needs a `default` case. Errors are compared by value, without
/// ``underlyingError``.
public struct AnimatedImageError: Error, Sendable, Hashable {
  /// A kind of error. Later releases may add kinds.
  public struct Code: NamedValue, Sendable, Hashable, CustomStringConvertible {
    /// The code's name, as JSON output spells it.
    public let name: String
    package init(_ name: String) { self.name = name }
  }

  /// The kind of error.
  public let code: Code
  /// The format of the file, or nil if it is not known.
  public let format: AnimationFormat?
  /// The index of the frame in which the error occurred, counted from 0, or nil if it did not occur in a frame.
  public let frameIndex: Int?
  /// The file offset at which the error was detected, or nil if the error has no position in a file.
  public let byteOffset: Int?
  /// A plain clause that describes the error.
  public let detail: String
  /// The limit that would be exceeded, if this is a ``Code/limitExceeded`` error thrown by this package, or nil
  /// otherwise.
  public let limit: LimitExcess?
  /// The error of the system call that failed, or nil if no system call failed.
  public let systemError: Errno?
  /// The error that the caller's code threw (a reader of byte ranges, a sequence of chunks or frames, or the closure of
  /// a sink), if it is reported as this error. Nil if this package detected the error, or if the caller's
  /// code threw an `AnimatedImageError`, which is passed on unless its code is `cancelled`.
  public var underlyingError: (any Error)? { cause.error }

  private let cause: Cause

  /// An error that does not take part in comparisons, because not all errors can be compared.
  private struct Cause: Sendable, Hashable {
    let error: (any Error)?
    static func == (left: Self, right: Self) -> Bool { true }
    func hash(into hasher: inout Hasher) {}
  }

  /// Creates an error from its properties.
  public init(
    _ code: Code, _ detail: String, format: AnimationFormat? = nil, frameIndex: Int? = nil,
    byteOffset: Int? = nil, limit: LimitExcess? = nil, systemError: Errno? = nil,
    underlyingError: (any Error)? = nil
  ) {
    self.code = code
    self.detail = detail
    self.format = format
    self.frameIndex = frameIndex
    self.byteOffset = byteOffset
    self.limit = limit
    self.systemError = systemError
    cause = Cause(error: underlyingError)
  }

  /// Creates the error that reports an error thrown by code of the caller.
  package init(thrown error: any Error, _ prefix: String = "") {
    self.init(
      .io, "\(prefix)\(error)", systemError: error as? Errno, underlyingError: error)
  }
}

extension AnimatedImageError {
  /// Returns this error with `index` as its frame index, or unchanged if it already has a frame index.
  package func inFrame(_ index: Int) -> Self {
    guard frameIndex == nil else { return self }
    return Self(
      code, detail, format: format, frameIndex: index, byteOffset: byteOffset, limit: limit,
      systemError: systemError, underlyingError: underlyingError)
  }
}

extension AnimatedImageError {
  /// Returns the error for a frame that an image with `count` frames does not have.
  package static func noFrame(
    _ index: some BinaryInteger, of count: Int, format: AnimationFormat? = nil
  ) -> Self {
    let existing = count == 1 ? "there is 1 frame" : "there are \(count) frames"
    return Self(.parameter, "frame \(index) does not exist; \(existing)", format: format)
  }

  /// Returns the error for an exceeded limit. By default, the detail of the error calls the limit by its name in
  /// ``DecodingLimits``.
  package static func exceeding(
    _ kind: LimitExcess.Kind, found: Int, allowed: Int, _ detail: String? = nil,
    format: AnimationFormat? = nil, frameIndex: Int? = nil, byteOffset: Int? = nil
  ) -> Self {
    let limit = LimitExcess(kind, found: found, allowed: allowed)
    return Self(
      .limitExceeded, detail ?? limit.description(naming: kind.name), format: format,
      frameIndex: frameIndex, byteOffset: byteOffset, limit: limit)
  }
}

extension AnimatedImageError: CustomStringConvertible {
  /// The code, the cause and the position of the error, in one sentence.
  public var description: String {
    var text = "\(code.name): \(detail)"
    if let frameIndex { text += ", frame \(frameIndex)" }
    if let byteOffset { text += ", byte \(byteOffset)" }
    return text
  }
}

extension AnimatedImageError: LocalizedError {
  /// The same text as ``description``, so that `localizedDescription` describes the error.
  public var errorDescription: String? { description }
}

extension AnimatedImageError.Code {
  /// The bytes are not in any format that can be decoded.
  public static let notAnImage = Self("notAnImage")
  /// The file uses a feature of its format that this library does not decode.
  public static let unsupported = Self("unsupported")
  /// The start of the data is valid, but there is no frame to decode.
  public static let noFrames = Self("noFrames")
  /// The data ends too early.
  public static let truncated = Self("truncated")
  /// The data breaks the format's rules.
  public static let malformed = Self("malformed")
  /// A limit would be exceeded. ``AnimatedImageError/limit`` contains the value found and the allowed value.
  public static let limitExceeded = Self("limitExceeded")
  /// The system cannot create a thread, or cannot allocate memory that the limits allow. A later attempt may succeed.
  public static let outOfMemory = Self("outOfMemory")
  /// Reading or writing failed. ``AnimatedImageError/systemError`` is the system's error, if the system reported one.
  public static let io = Self("io")
  /// The output format cannot represent the animation, or this library cannot write the format yet.
  public static let unwritable = Self("unwritable")
  /// An argument is invalid, for example a frame index past the last frame.
  public static let parameter = Self("parameter")
  /// The operation was cancelled before it finished.
  public static let cancelled = Self("cancelled")
  /// A stored ``ImageIndex`` is damaged, has another version, or belongs to another file.
  public static let invalidImageIndex = Self("invalidImageIndex")
  /// A frame store is out of space: its disk is full, or its byte limit leaves no room for the
  /// frame.
  public static let storeFull = Self("storeFull")
  /// The directory or a file of a frame store is not writable, or users other than the current one have access to it.
  public static let storeDenied = Self("storeDenied")
  /// All slots in which a frame store could keep the frame are in use. Try again later.
  public static let storeBusy = Self("storeBusy")
  /// Another process truncated, removed or overwrote a table of a frame store.
  public static let storeDamaged = Self("storeDamaged")
  /// The file system lacks a feature that a frame store needs, such as locks.
  public static let storeUnsupported = Self("storeUnsupported")

  /// Bytes of a remote file have not been fetched yet. This code is internal: the caller fetches the bytes and tries
  /// again.
  package static let bytesMissing = Self("bytesMissing")
  /// Used only by the C interface: the process was forked after it had used the library, so the library's threads do
  /// not exist in the child process.
  package static let forked = Self("forked")
  /// Used only by the C interface: a call took longer than `timeout_ns` in its options allows.
  package static let timedOut = Self("timedOut")
}
