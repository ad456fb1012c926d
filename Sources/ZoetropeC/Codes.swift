internal import CZoetrope
internal import Zoetrope

// Conversions between the numbers in zoetrope.h and Swift values.

extension AnimatedImageError {
  /// The number that the header gives to the error's code.
  var status: zoetrope_status {
    let status =
      switch code {
      case .notAnImage: ZOETROPE_NOT_AN_IMAGE
      case .unsupported: ZOETROPE_UNSUPPORTED
      case .noFrames: ZOETROPE_NO_FRAMES
      case .truncated: ZOETROPE_TRUNCATED
      case .malformed: ZOETROPE_MALFORMED
      case .limitExceeded: budgetLimit == nil ? ZOETROPE_LIMIT_EXCEEDED : ZOETROPE_OVER_BUDGET
      case .io: ZOETROPE_IO
      case .parameter: ZOETROPE_PARAMETER
      case .cancelled: ZOETROPE_CANCELLED
      case .forked: ZOETROPE_FORKED
      case .timedOut: ZOETROPE_TIMED_OUT
      case .outOfMemory: ZOETROPE_OUT_OF_MEMORY
      case .unwritable: ZOETROPE_UNWRITABLE
      case .storeFull, .storeBusy, .storeDamaged, .storeDenied, .storeUnsupported: ZOETROPE_STORE
      default: ZOETROPE_OTHER
      }
    return zoetrope_status(status)
  }

  /// The name that the header gives to the error's code.
  var name: String { budgetLimit == nil ? code.name : "overBudget" }

  /// If the output does not meet a limit, the number that the header gives to that limit; nil for other errors.
  var budgetLimit: Int? { limit.flatMap { Self.budgetLimits[$0.kind] } }

  private static let budgetLimits: [LimitExcess.Kind: Int] = [
    .outputBytes: ZOETROPE_LIMIT_BYTES, .outputFrames: ZOETROPE_LIMIT_FRAMES,
    .outputDuration: ZOETROPE_LIMIT_DURATION, .outputSides: ZOETROPE_LIMIT_SIDES,
  ]
}

/// Returns the element of `values` to which the header gives the number `number`.
///
/// - Throws: `parameter` if there is no such element.
func value<Value>(
  _ number: Int32, of values: [Value], _ name: StaticString
) throws(AnimatedImageError) -> Value {
  guard values.indices.contains(Int(number)) else {
    throw AnimatedImageError(
      .parameter, "\(name) is \(number); it must be 0 to \(values.count - 1)")
  }
  return values[Int(number)]
}

/// The numbers that the header gives to the formats.
let formatNumbers: [AnimationFormat: Int32] = [
  .gif: Int32(ZOETROPE_GIF), .apng: Int32(ZOETROPE_APNG), .png: Int32(ZOETROPE_PNG),
]

/// The delay policies, in the order of their numbers in the header.
let delayPolicies: [DelayPolicy] = [.browser, .exact, .ffmpeg, .imageIO]

/// The fits of scaling, in the order of their numbers in the header.
let scalingFits: [ScalingFit] = [.fit, .fill, .stretch, .integer]
/// The filters of scaling, in the order of their numbers in the header.
let scalingFilters: [ScalingFilter] = [.bilinear, .nearest, .box, .bicubic, .lanczos3]
