public import CZoetrope
internal import Glibc
internal import Synchronization
internal import SystemPackage
internal import Zoetrope

// Unsafe: arguments come from C, under the header's contract. `ForeignMemory` checks and copies them.

/// Implements `zoetrope_abi_version`, which zoetrope.h documents.
@c(zoetrope_abi_version)
public func abiVersion() -> UInt32 { UInt32(ZOETROPE_ABI_VERSION) }

/// Implements `zoetrope_version`, which zoetrope.h documents.
@c(zoetrope_version)
public func libraryVersion() -> UnsafePointer<CChar>? {
  unsafe UnsafePointer(bitPattern: LibraryVersion.address)
}

enum LibraryVersion {
  /// The address of the version string, which is never freed, because callers may keep it.
  static let address = unsafe UInt(bitPattern: strdup(ZOETROPE_VERSION))
}

/// Implements `zoetrope_open_file`, which zoetrope.h documents.
@c(zoetrope_open_file)
public func openFile(
  _ path: UnsafePointer<CChar>?, _ options: UnsafePointer<zoetrope_options>?,
  _ animation: UnsafeMutablePointer<OpaquePointer?>?, _ error: UnsafeMutablePointer<zoetrope_error>?
) -> zoetrope_status {
  unsafe open(animation, options, error) { (options, call) throws(AnimatedImageError) in
    let path = unsafe FilePath(platformString: try required(path, "path"))
    return Opening { () throws(AnimatedImageError) in
      try AnimatedImage(contentsOf: path, options: options) { call.isCancelled }
    }
  }
}

/// Implements `zoetrope_open_descriptor`, which zoetrope.h documents.
@c(zoetrope_open_descriptor)
public func openDescriptor(
  _ descriptor: Int32, _ options: UnsafePointer<zoetrope_options>?,
  _ animation: UnsafeMutablePointer<OpaquePointer?>?, _ error: UnsafeMutablePointer<zoetrope_error>?
) -> zoetrope_status {
  unsafe open(animation, options, error) { (options, call) throws(AnimatedImageError) in
    // Duplicate the descriptor now, on the caller's thread, because the caller may close it once the call has returned.
    let source = try FileSource(duplicating: FileDescriptor(rawValue: descriptor))
    return Opening { () throws(AnimatedImageError) in
      try AnimatedImage(source: source, options: options) { call.isCancelled }
    }
  }
}

/// Implements `zoetrope_open_bytes`, which zoetrope.h documents.
@c(zoetrope_open_bytes)
public func openBytes(
  _ bytes: UnsafeRawPointer?, _ byteCount: Int, _ options: UnsafePointer<zoetrope_options>?,
  _ animation: UnsafeMutablePointer<OpaquePointer?>?, _ error: UnsafeMutablePointer<zoetrope_error>?
) -> zoetrope_status {
  unsafe open(animation, options, error) { (options, call) throws(AnimatedImageError) in
    guard byteCount >= 0 else {
      throw AnimatedImageError(
        .parameter, "byte_count is \(UInt(bitPattern: byteCount)), which is too large")
    }
    var copy: [UInt8] = []
    if byteCount > 0 {
      let start = try unsafe required(bytes, "bytes")
      try copy.makeRoom(adding: byteCount)
      while copy.count < byteCount {
        if call.isCancelled { throw call.reason }
        let piece = min(byteCount - copy.count, pieceSize)
        unsafe copy.append(
          contentsOf: UnsafeRawBufferPointer(start: start + copy.count, count: piece))
      }
    }
    let source = MemorySource(copy)
    return Opening { () throws(AnimatedImageError) in
      try AnimatedImage(source: source, options: options) { call.isCancelled }
    }
  }
}

/// The number of bytes that are copied between two checks for cancellation. Copying them takes less than a millisecond.
private let pieceSize = 1 << 20

/// Implements `zoetrope_open_reader`, which zoetrope.h documents.
@c(zoetrope_open_reader)
public func openReader(
  _ reader: UnsafePointer<zoetrope_reader>?, _ options: UnsafePointer<zoetrope_options>?,
  _ animation: UnsafeMutablePointer<OpaquePointer?>?, _ error: UnsafeMutablePointer<zoetrope_error>?
) -> zoetrope_status {
  unsafe open(animation, options, error) { (options, call) throws(AnimatedImageError) in
    let given = try unsafe required(reader, "reader")
    let whole = try unsafe read(given, over: zoetrope_reader(), "zoetrope_reader")
    let source = try unsafe ForeignSource(whole)
    // Without `release`, the caller would not learn when its `read` has been called for the last time, so the call must
    // not return before that.
    let mayLeave = unsafe whole.release != nil
    return Opening(mayLeave: mayLeave) { () throws(AnimatedImageError) in
      try AnimatedImage(source: source, options: options) { mayLeave && call.isCancelled }
    }
  }
}

/// The part of opening an image that does not use the caller's memory.
private struct Opening {
  /// Whether the call may return while `body` is still running, if the call is cancelled or times out.
  let mayLeave: Bool
  let body: @Sendable () throws(AnimatedImageError) -> AnimatedImage

  init(
    mayLeave: Bool = true,
    _ body: @escaping @Sendable () throws(AnimatedImageError) -> AnimatedImage
  ) {
    (self.mayLeave, self.body) = (mayLeave, body)
  }
}

/// Opens an image and writes its handle to `animation`.
///
/// - Parameter prepare: A closure that reads the arguments in the caller's memory, and returns the rest of the work.
private func open(
  _ animation: UnsafeMutablePointer<OpaquePointer?>?, _ options: UnsafePointer<zoetrope_options>?,
  _ error: UnsafeMutablePointer<zoetrope_error>?,
  _ prepare: (DecodingOptions, DecodingCall) throws(AnimatedImageError) -> Opening
) -> zoetrope_status {
  unsafe write(nil, to: animation)
  return unsafe attempt(error) { () throws(AnimatedImageError) in
    let target = try unsafe required(animation, "animation")
    let given = try unsafe read(options, over: zoetrope_options(), "zoetrope_options")
    let timeout = try unsafe given.timeout()
    let calls = DecodingCalls(timeout: timeout)
    let flag = unsafe CallerFlag(given.cancel_opening)
    let call = try calls.begin(flag)
    let opening = try unsafe prepare(given.decodingOptions(), call)
    // Run the body on another thread if the call may have to return before it.
    let mayEnd = opening.mayLeave && (timeout != nil || flag != nil)
    let image = try mayEnd ? calls.run(call, work: .max, opening.body) : opening.body()
    unsafe write(handle(owning: AnimationHandle(image, calls: calls)), to: target)
  }
}

// Unsafe: the struct contains a pointer, which is not dereferenced here.
extension zoetrope_options {
  /// Returns the options for opening the image.
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
        .parameter, "parallelism is \(unsafe parallelism); it must be 0 or more")
    }
    let policies: [DamagePolicy] = [.salvage, .strict, .partialRows]
    return unsafe DecodingOptions(
      damage: try value(damage, of: policies, "damage"), limits: limits,
      keeps16Bit: try value(deep, of: [false, true], "deep"), parallelism: Int(parallelism))
  }

  /// Returns the maximum duration of a call, or nil for no limit.
  func timeout() throws(AnimatedImageError) -> Duration? {
    guard unsafe timeout_ns >= 0 else {
      throw AnimatedImageError(
        .parameter, "timeout_ns is \(unsafe timeout_ns); it must be 0 or more")
    }
    return unsafe timeout_ns == 0 ? nil : .nanoseconds(timeout_ns)
  }
}

private func set(
  _ limit: inout Int, _ number: Int64, _ name: StaticString
) throws(AnimatedImageError) {
  guard number >= 0 else {
    throw AnimatedImageError(.parameter, "\(name) is \(number); it must be 0 or more")
  }
  if number > 0 { limit = Int(number) }
}

/// How frames are rendered and laid out in the caller's memory.
struct FrameRequest: Sendable, Hashable {
  /// The rendering, whose format is never nil.
  let rendering: Rendering
  /// The size of the frames.
  let size: PixelSize
  /// The number of bytes per pixel in the caller's memory. It is 3 for ZOETROPE_RGB8, with which bitmaps are blended
  /// over black while they are copied.
  let bytesPerPixel: Int

  /// The number of bytes in a row without padding.
  var bytesPerRow: Int { size.width * bytesPerPixel }

  /// The maximum width and height of a scaled frame.
  private static let maximumSide = 65535
  /// The maximum number of pixels of a scaled frame.
  private static let maximumPixels = 1 << 28

  init(_ rendering: zoetrope_rendering, of image: AnimatedImage) throws(AnimatedImageError) {
    guard rendering.reserved == 0 else {
      throw AnimatedImageError(
        .parameter, "zoetrope_rendering.reserved is \(rendering.reserved); it must be 0")
    }
    let formats: [PixelFormat] = [
      .rgba8, .rgba8Premultiplied, .bgra8, .bgra8Premultiplied, .rgbx8, .rgba8, .rgb565, .gray8,
      .rgba16,
    ]
    let format = try value(rendering.format, of: formats, "format")
    bytesPerPixel = Int(rendering.format) == ZOETROPE_RGB8 ? 3 : format.bytesPerPixel
    var result = Rendering(
      fit: try value(rendering.fit, of: scalingFits, "fit"),
      filter: try value(rendering.filter, of: scalingFilters, "filter"),
      linearLight: try value(rendering.linear_light, of: [false, true], "linear_light"),
      format: format)
    let enlarges = try value(rendering.no_enlarging, of: [true, false], "no_enlarging")
    let sides = 0...Int32(Self.maximumSide)
    guard sides.contains(rendering.width), sides.contains(rendering.height) else {
      throw AnimatedImageError(
        .parameter,
        "the box is \(rendering.width)x\(rendering.height); sides must be 0 to \(Self.maximumSide)")
    }
    if rendering.width > 0 || rendering.height > 0 {
      result.target = TargetSize(
        width: rendering.width > 0 ? Int(rendering.width) : nil,
        height: rendering.height > 0 ? Int(rendering.height) : nil, allowsEnlarging: enlarges)
    }
    self.rendering = result
    size = Rendition(result, of: image.canvasSize, options: image.options).size
    if size != image.canvasSize {
      // Check the size before the scaling weights of all rows and columns are computed.
      let allowed = min(Self.maximumPixels, image.options.limits.canvasPixels)
      let side = max(size.width, size.height)
      guard size.area <= allowed else {
        let limit = allowed < Self.maximumPixels ? "canvas_pixels allows only" : "the limit is"
        throw .exceeding(
          .scaledPixels, found: size.area, allowed: allowed,
          "scaled frames would be \(size), but \(limit) \(allowed) pixels")
      }
      guard side <= Self.maximumSide else {
        throw .exceeding(
          .scaledSide, found: side, allowed: Self.maximumSide,
          "scaled frames would be \(size); sides are limited to \(Self.maximumSide)")
      }
    }
  }
}

extension Duration {
  /// The duration in whole nanoseconds, rounded towards zero and clamped.
  var wholeNanoseconds: Int64 {
    let (seconds, attoseconds) = components
    let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    let (sum, overflowAgain) = product.addingReportingOverflow(attoseconds / 1_000_000_000)
    return overflow || overflowAgain ? (seconds < 0 ? .min : .max) : sum
  }

  /// The duration in nanoseconds, rounded up and clamped. For the start of a frame, this is the first whole nanosecond
  /// at which the frame is shown.
  var nanosecondsRoundedUp: Int64 {
    let down = wholeNanoseconds
    return down < .max && components.attoseconds % 1_000_000_000 > 0 ? down + 1 : down
  }
}

extension AnimatedImageError {
  /// The description of the error, in which limits have the names that zoetrope.h gives them.
  var headerDetail: String {
    guard let limit, let name = Self.headerNames[limit.kind] else { return detail }
    return limit.description(naming: name)
  }

  private static let headerNames: [LimitExcess.Kind: String] = [
    .canvasPixels: "canvas_pixels", .frameCount: "frame_count", .liveBytes: "live_bytes",
    .pixelsPerPlay: "pixels_per_play", .inputBytes: "live_bytes",
  ]
}

/// Implements `zoetrope_close`, which zoetrope.h documents.
@c(zoetrope_close)
public func close(_ animation: OpaquePointer?) {
  // In a forked child, leak the handle: its locks may be held by threads that do not exist in the child.
  guard !ForkGuard.isForked, let handle = unsafe release(animation, AnimationHandle.self)
  else { return }
  (handle.image.source as? ForeignSource)?.closeUnlessReleased()
}

/// Implements `zoetrope_cancel`, which zoetrope.h documents.
@c(zoetrope_cancel)
public func cancel(_ animation: OpaquePointer?) {
  guard !ForkGuard.isForked else { return }
  (try? unsafe object(animation, AnimationHandle.self, "animation"))?.calls.cancel()
}

/// Implements `zoetrope_clear_cancel`, which zoetrope.h documents.
@c(zoetrope_clear_cancel)
public func clearCancel(_ animation: OpaquePointer?) {
  guard !ForkGuard.isForked else { return }
  (try? unsafe object(animation, AnimationHandle.self, "animation"))?.calls.clearCancel()
}

/// A byte source implemented by a C function.
@safe
final class ForeignSource: ByteSource {
  /// The C functions. They are called only under the lock of ``isClosed``.
  private let promised: Promised<zoetrope_reader>
  private var reader: zoetrope_reader { unsafe promised.value }
  /// Whether `read` must not be called any more. The lock is held during each call of `read`.
  private let isClosed = Mutex(false)
  let byteCount: Int

  /// Creates a source that reads with the functions of `reader`.
  ///
  /// - Throws: `parameter` if there is no `read` function, or if the size is negative.
  init(_ reader: zoetrope_reader) throws(AnimatedImageError) {
    guard unsafe reader.read != nil else {
      throw AnimatedImageError(.parameter, "reader.read is NULL")
    }
    guard unsafe reader.byte_count >= 0 else {
      throw AnimatedImageError(
        .parameter, "reader.byte_count is \(unsafe reader.byte_count); it must be 0 or more")
    }
    unsafe promised = Promised(reader)
    unsafe byteCount = Int(reader.byte_count)
  }

  deinit { unsafe reader.release?(reader.context) }

  /// If the caller has no `release` function, waits for a running call of `read`, and ensures that no other call
  /// follows. Otherwise does nothing: `release` tells the caller when even threads that decode ahead, cancelled calls
  /// and players no longer call `read`.
  func closeUnlessReleased() {
    if unsafe reader.release == nil { isClosed.withLock { $0 = true } }
  }

  var residentByteCount: Int { 0 }

  var currentStamp: FileStamp? { nil }
  /// Whether the bytes are unchanged: always true, because the caller promises that they are constant.
  var isUnchanged: Bool { true }

  func withBytes<Result>(
    in range: Range<Int>, buffer: inout ReadBuffer,
    _ body: (borrowing RawSpan) throws(AnimatedImageError) -> Result
  ) throws(AnimatedImageError) -> Result {
    let clipped = range.clamped(to: 0..<byteCount)
    var bytes: [UInt8] = []
    try bytes.makeRoom(for: clipped.count, taking: clipped.count)
    var done = 0
    while done < clipped.count {
      let offset = clipped.lowerBound + done
      let count = isClosed.withLock { isClosed -> Int64? in
        if isClosed { return nil }
        return unsafe bytes.withUnsafeMutableBytes { bytes in
          unsafe reader.read(
            reader.context, Int64(offset), bytes.baseAddress.map { unsafe $0 + done },
            bytes.count - done)
        }
      }
      guard let count else {
        throw AnimatedImageError(.io, "the animation was closed", byteOffset: offset)
      }
      guard count >= 0 else {
        throw AnimatedImageError(
          .io, "reader.read failed: it returned \(count)", byteOffset: offset)
      }
      guard count <= Int64(bytes.count - done) else {
        throw AnimatedImageError(
          .io,
          "reader.read returned \(count), but at most \(bytes.count - done) bytes were requested",
          byteOffset: offset)
      }
      if count == 0 { break }
      done += Int(count)
    }
    return try body(bytes.rawBytes.extracting(first: done))
  }
}
