internal import CZoetrope
internal import Zoetrope

// The numbers of the header and what they stand for.

extension AnimatedImageError.Code {
  /// The code's number in the header.
  var status: zoetrope_status {
    let status =
      switch self {
      case .notAnImage: ZOETROPE_NOT_AN_IMAGE
      case .unsupported: ZOETROPE_UNSUPPORTED
      case .noFrames: ZOETROPE_NO_FRAMES
      case .truncated: ZOETROPE_TRUNCATED
      case .malformed: ZOETROPE_MALFORMED
      case .limitExceeded: ZOETROPE_LIMIT_EXCEEDED
      case .io: ZOETROPE_IO
      case .parameter: ZOETROPE_PARAMETER
      case .cancelled: ZOETROPE_CANCELLED
      case .forked: ZOETROPE_FORKED
      case .timedOut: ZOETROPE_TIMED_OUT
      case .outOfMemory: ZOETROPE_OUT_OF_MEMORY
      default: ZOETROPE_OTHER
      }
    return zoetrope_status(status)
  }
}

/// Returns the element of `values` that stands at `number` in the header.
///
/// - Throws: `parameter` if there is none.
func value<Value>(
  _ number: Int32, of values: [Value], _ name: StaticString
) throws(AnimatedImageError) -> Value {
  guard values.indices.contains(Int(number)) else {
    throw AnimatedImageError(
      .parameter, "\(name) is \(number), must be 0 to \(values.count - 1)")
  }
  return values[Int(number)]
}

/// The formats' numbers in the header.
let formatNumbers: [AnimationFormat: Int32] = [
  .gif: Int32(ZOETROPE_GIF), .apng: Int32(ZOETROPE_APNG), .png: Int32(ZOETROPE_PNG),
]

/// The delay policies, in the header's order.
let delayPolicies: [DelayPolicy] = [.browser, .exact, .ffmpeg, .imageIO]

// Unsafe: the struct has a pointer, which is not read here.
extension zoetrope_options {
  /// The options of an opened image.
  func decodingOptions() throws(AnimatedImageError) -> DecodingOptions {
    let presets: [DecodingLimits] = [.default, .strict, .none]
    var limits = try unsafe value(self.limits, of: presets, "limits")
    try unsafe set(&limits.canvasPixels, canvas_pixels, "canvas_pixels")
    try unsafe set(&limits.frameCount, frame_count, "frame_count")
    try unsafe set(&limits.liveBytes, live_bytes, "live_bytes")
    try unsafe set(&limits.pixelsPerPlay, pixels_per_play, "pixels_per_play")
    try unsafe set(&limits.metadataBytes, metadata_bytes, "metadata_bytes")
    try unsafe set(&limits.metadataTotalBytes, metadata_total_bytes, "metadata_total_bytes")
    try unsafe set(&limits.metadataCount, metadata_count, "metadata_count")
    guard unsafe parallelism >= 0 else {
      throw AnimatedImageError(
        .parameter, "parallelism is \(unsafe parallelism), must be 0 or more")
    }
    let policies: [DamagePolicy] = [.salvage, .strict, .partialRows]
    return unsafe DecodingOptions(
      damage: try value(damage, of: policies, "damage"), limits: limits,
      keeps16Bit: try value(deep, of: [false, true], "deep"), parallelism: Int(parallelism))
  }

  /// The most that a call may take; nil for no limit.
  func timeout() throws(AnimatedImageError) -> Duration? {
    guard unsafe timeout_ns >= 0 else {
      throw AnimatedImageError(.parameter, "timeout_ns is \(unsafe timeout_ns), must be 0 or more")
    }
    return unsafe timeout_ns == 0 ? nil : .nanoseconds(timeout_ns)
  }
}

private func set(
  _ limit: inout Int, _ number: Int64, _ name: StaticString
) throws(AnimatedImageError) {
  guard number >= 0 else {
    throw AnimatedImageError(.parameter, "\(name) is \(number), must be 0 or more")
  }
  if number > 0 { limit = Int(number) }
}

/// How frames are rendered and laid out in the caller's memory.
struct FrameRequest: Sendable, Hashable {
  /// With an explicit format.
  let rendering: Rendering
  /// The size of the frames.
  let size: PixelSize
  /// The bytes of a pixel in the caller's memory: 3 if bitmaps are blended over black on the way there.
  let bytesPerPixel: Int

  /// Bytes of a row without padding.
  var bytesPerRow: Int { size.width * bytesPerPixel }

  /// The largest side of a scaled frame, and the most pixels in it.
  private static let maximumSide = 65535
  private static let maximumPixels = 1 << 28

  init(_ rendering: zoetrope_rendering, of image: AnimatedImage) throws(AnimatedImageError) {
    guard rendering.reserved == 0 else {
      throw AnimatedImageError(
        .parameter, "zoetrope_rendering.reserved is \(rendering.reserved), must be 0")
    }
    let formats: [PixelFormat] = [
      .rgba8, .rgba8Premultiplied, .bgra8, .bgra8Premultiplied, .rgbx8, .rgba8, .rgb565, .grey8,
      .rgba16,
    ]
    let format = try value(rendering.format, of: formats, "format")
    bytesPerPixel = Int(rendering.format) == ZOETROPE_RGB8 ? 3 : format.bytesPerPixel
    let fits: [ScalingFit] = [.fit, .fill, .stretch, .integer]
    let filters: [ScalingFilter] = [.bilinear, .nearest, .box, .bicubic, .lanczos3]
    var result = Rendering(
      fit: try value(rendering.fit, of: fits, "fit"),
      filter: try value(rendering.filter, of: filters, "filter"),
      linearLight: try value(rendering.linear_light, of: [false, true], "linear_light"),
      format: format)
    let enlarges = try value(rendering.no_enlarging, of: [true, false], "no_enlarging")
    let sides = 0...Int32(Self.maximumSide)
    guard sides.contains(rendering.width), sides.contains(rendering.height) else {
      throw AnimatedImageError(
        .parameter,
        "the box is \(rendering.width)x\(rendering.height), sides must be 0 to \(Self.maximumSide)")
    }
    if rendering.width > 0 || rendering.height > 0 {
      result.target = TargetSize(
        width: rendering.width > 0 ? Int(rendering.width) : nil,
        height: rendering.height > 0 ? Int(rendering.height) : nil, allowsEnlarging: enlarges)
    }
    self.rendering = result
    size = Rendition(result, of: image.canvasSize, options: image.options).size
    if size != image.canvasSize {
      // Before weights for all rows and columns are computed.
      let allowed = min(Self.maximumPixels, image.options.limits.canvasPixels)
      let side = max(size.width, size.height)
      guard size.area <= allowed else {
        throw .exceeding(
          .scaledPixels, asked: size.area, allowed: allowed,
          "scaled frames would be \(size), the limit is \(allowed) pixels")
      }
      guard side <= Self.maximumSide else {
        throw .exceeding(
          .scaledSide, asked: side, allowed: Self.maximumSide,
          "scaled frames would be \(size), sides are limited to \(Self.maximumSide)")
      }
    }
  }
}

extension Duration {
  /// Whole nanoseconds, clamped.
  var wholeNanoseconds: Int64 {
    let (seconds, attoseconds) = components
    let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    let (sum, overflowAgain) = product.addingReportingOverflow(attoseconds / 1_000_000_000)
    return overflow || overflowAgain ? (seconds < 0 ? .min : .max) : sum
  }

  /// Nanoseconds, rounded up and clamped: the first whole nanosecond at which a frame that starts at
  /// this time is shown.
  var nanosecondsRoundedUp: Int64 {
    let down = wholeNanoseconds
    return down < .max && components.attoseconds % 1_000_000_000 > 0 ? down + 1 : down
  }
}

extension AnimatedImageError {
  /// The detail, with a limit by its name in the header.
  var headerDetail: String {
    guard let limit, let name = Self.headerNames[limit.kind] else { return detail }
    return limit.description(naming: name)
  }

  private static let headerNames: [LimitExcess.Kind: String] = [
    .canvasPixels: "canvas_pixels", .frameCount: "frame_count", .liveBytes: "live_bytes",
    .pixelsPerPlay: "pixels_per_play",
  ]
}
