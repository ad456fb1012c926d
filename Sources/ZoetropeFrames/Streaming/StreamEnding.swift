/// How a stream of bytes ended, and whether the file is complete.
///
/// Not an enum, so that later releases can add endings: end a `switch` over it with `default`.
public struct StreamEnding: Sendable, Hashable {
  private enum Kind: Sendable, Hashable {
    case complete, truncated, cancelled
    case failed(AnimatedImageError)
  }

  private let kind: Kind

  /// The file's end marker has arrived. The stream does not wait for bytes after it.
  public static let complete = StreamEnding(kind: .complete)
  /// The stream ended before the file's end marker, or the file is so damaged that nothing after the damage can
  /// be read. The frames that arrived are available.
  public static let truncated = StreamEnding(kind: .truncated)
  /// ``StreamedImage/cancel()`` was called, or the stream's task was cancelled.
  public static let cancelled = StreamEnding(kind: .cancelled)
  /// The stream threw, or its bytes cannot be used: they are not an image, or exceed a limit. The frames that
  /// arrived before are available.
  public static func failed(_ error: AnimatedImageError) -> StreamEnding {
    StreamEnding(kind: .failed(error))
  }

  /// Why the stream failed; nil for every other ending.
  public var error: AnimatedImageError? {
    if case .failed(let error) = kind { error } else { nil }
  }
}

extension StreamEnding: CustomStringConvertible {
  /// The ending's name; a failure adds its error.
  public var description: String {
    switch kind {
    case .complete: "complete"
    case .truncated: "truncated"
    case .cancelled: "cancelled"
    case .failed(let error): "failed (\(error))"
    }
  }
}
