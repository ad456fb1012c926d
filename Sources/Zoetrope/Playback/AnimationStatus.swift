/// How a call of ``animateImage(at:options:clock:handler:)`` ended. Failures are named after Image I/O's.
public enum AnimationStatus: Sendable, Hashable {
  /// Every play was shown.
  case finished
  /// The handler set `stop`.
  case stopped
  /// The calling task was cancelled.
  case cancelled
  /// An option makes no sense, such as a start index past the end, or the file cannot be read.
  case parameterError
  /// The data breaks its format's rules.
  case corruptInputImage
  /// The data is of no format that is decoded.
  case unsupportedFormat
  /// The data ends before the first frame.
  case incompleteInputImage
  /// A limit on memory would be passed (see ``DecodingLimits``).
  case allocationFailure

  /// The number that Image I/O gives to the status; 0 for the three that are no failures.
  public var code: Int {
    switch self {
    case .finished, .stopped, .cancelled: 0
    case .parameterError: -22140
    case .corruptInputImage: -22141
    case .unsupportedFormat: -22142
    case .incompleteInputImage: -22143
    case .allocationFailure: -22144
    }
  }

  /// The status for an error.
  public init(_ error: AnimatedImageError) {
    self =
      switch error.code {
      case .parameter, .io: .parameterError
      case .notAnImage, .unsupported: .unsupportedFormat
      case .truncated, .noFrames: .incompleteInputImage
      case .limitExceeded: .allocationFailure
      case .cancelled: .cancelled
      default: .corruptInputImage
      }
  }
}
