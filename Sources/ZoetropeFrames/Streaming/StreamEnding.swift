/// The way in which a stream of bytes ended, which also tells whether the file is complete.
///
/// This type is not an enum, so that later releases can add endings. Write a `default` case in a `switch` over it.
public struct StreamEnding: Sendable, Hashable {
  private enum Kind: Sendable, Hashable {
    case complete, truncated, cancelled
    case failed(AnimatedImageError)
  }

  private let kind: Kind

  /// The end marker of the file has arrived. The stream does not wait for bytes after the end marker.
  public static let complete = StreamEnding(kind: .complete)
  /// The stream ended before the end marker of the file, or the file is so damaged that nothing after the damage can be
  /// read. The frames that have arrived are available.
  public static let truncated = StreamEnding(kind: .truncated)
  /// ``StreamedImage/cancel()`` was called, or the task of the stream was cancelled. The frames that have arrived are
  /// available.
  public static let cancelled = StreamEnding(kind: .cancelled)
  /// The stream threw an error, or its bytes cannot be used because they are not an image or exceed a limit. The frames
  /// that arrived before the failure are available.
  public static func failed(_ error: AnimatedImageError) -> StreamEnding {
    StreamEnding(kind: .failed(error))
  }

  /// The error with which the stream failed, or nil for every other ending.
  public var error: AnimatedImageError? {
    if case .failed(let error) = kind { error } else { nil }
  }
}

extension StreamEnding: CustomStringConvertible {
  /// The name of the ending, followed by the error if the stream failed.
  public var description: String {
    switch kind {
    case .complete: "complete"
    case .truncated: "truncated"
    case .cancelled: "cancelled"
    case .failed(let error): "failed (\(error))"
    }
  }
}
