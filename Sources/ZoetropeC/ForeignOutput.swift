internal import CZoetrope
internal import Glibc
internal import Synchronization
internal import SystemPackage
internal import Zoetrope

// Types that read pictures from the caller's memory, and that pass files to the caller.
//
// Unsafe: addresses and functions come from C, under the header's contract. A picture is copied before the call
// returns, and each of its rows is checked to lie within the bytes that the caller states. Only `ForeignSink` calls the
// caller's functions, under the lock of the `Destination` that owns the sink.

/// The destination of a written file. It is used until the call that writes the file returns, or the writer is freed.
///
/// After ``close()``, a destination neither calls the caller's functions nor creates a file, even if threads are still
/// writing to it.
final class Destination: InterruptibleSink {
  private let sink: any AnimationSink
  private let memory: MemorySink?
  /// The path of the file, or nil if the file is written to memory or passed to functions.
  let path: FilePath?
  private let isOpen = Mutex(true)
  private let failed = Mutex(false)

  /// Creates the destination that the caller's struct describes.
  ///
  /// - Throws: `parameter` if the struct is invalid.
  init(_ destination: UnsafePointer<zoetrope_destination>?) throws(AnimatedImageError) {
    let given = try unsafe read(destination, over: zoetrope_destination(), "zoetrope_destination")
    if let path = unsafe given.path {
      let path = unsafe FilePath(platformString: path)
      (self.path, memory, sink) = (path, nil, FileSink(path))
    } else if unsafe given.write != nil {
      (path, memory, sink) = (nil, nil, unsafe ForeignSink(given))
    } else {
      let memory = MemorySink()
      (path, self.memory, sink) = (nil, memory, memory)
    }
  }

  /// The bytes of the file in memory, or nil if the file is not written to memory. The array is empty until the file is
  /// complete.
  var bytes: [UInt8]? { memory?.bytes }

  /// Discards the file unless it is complete. If a function of the caller is running, waits until it has returned.
  func close() { abandon() }

  /// Whether writing to the destination has failed. Unlike the other members, this does not wait for a running write.
  var hasFailed: Bool { failed.withLock { $0 } }

  var canPatch: Bool { sink.canPatch }

  func write(_ bytes: [UInt8]) throws(AnimatedImageError) {
    try whileOpen { (_) throws(AnimatedImageError) in
      try memory?.reserve(bytes.count)
      try sink.write(bytes)
    }
  }

  func patch(_ bytes: [UInt8], at offset: Int) throws(AnimatedImageError) {
    try whileOpen { (_) throws(AnimatedImageError) in try sink.patch(bytes, at: offset) }
  }

  func finish() throws(AnimatedImageError) {
    try whileOpen { (isOpen) throws(AnimatedImageError) in
      isOpen = false
      try sink.finish()
    }
  }

  func abandon() {
    isOpen.withLock { isOpen in
      if isOpen { sink.abandon() }
      isOpen = false
    }
  }

  // Only a file sink observes cancellation, because functions of the caller cannot be interrupted.
  func observe(_ isCancelled: @escaping @Sendable () -> Bool) {
    (sink as? any InterruptibleSink)?.observe(isCancelled)
  }

  private func whileOpen(
    _ body: (inout Bool) throws(AnimatedImageError) -> Void
  ) throws(AnimatedImageError) {
    try isOpen.withLock { (isOpen) throws(AnimatedImageError) in
      guard isOpen else { throw AnimatedImageError(.cancelled, "stopped while writing") }
      do throws(AnimatedImageError) {
        try body(&isOpen)
      } catch {
        failed.withLock { $0 = true }
        throw error
      }
    }
  }
}

/// A sink that passes the bytes of a file to C functions.
@safe
private final class ForeignSink: AnimationSink {
  /// The C functions. One thread at a time calls them.
  private let promised: Promised<zoetrope_destination>
  private var given: zoetrope_destination { unsafe promised.value }

  init(_ given: zoetrope_destination) { unsafe promised = Promised(given) }

  var canPatch: Bool { unsafe given.patch != nil }

  func write(_ bytes: [UInt8]) throws(AnimatedImageError) {
    guard !bytes.isEmpty else { return }
    let status = unsafe bytes.withUnsafeBytes { bytes in
      unsafe given.write?(given.context, bytes.baseAddress, bytes.count) ?? 0
    }
    try check(status, "write")
  }

  func patch(_ bytes: [UInt8], at offset: Int) throws(AnimatedImageError) {
    guard !bytes.isEmpty else { return }
    let status = unsafe bytes.withUnsafeBytes { bytes in
      unsafe given.patch?(given.context, Int64(offset), bytes.baseAddress, bytes.count) ?? 0
    }
    try check(status, "patch")
  }

  func finish() throws(AnimatedImageError) {
    try check(unsafe given.end?(given.context, 1) ?? 0, "end")
  }

  func abandon() { unsafe _ = given.end?(given.context, 0) }

  private func check(_ status: Int32, _ function: String) throws(AnimatedImageError) {
    guard status == 0 else {
      throw AnimatedImageError(.io, "destination.\(function) returned \(status)")
    }
  }
}

/// A description of a written file, as in `zoetrope_written`.
struct WrittenFile: Sendable {
  let written: WrittenAnimation
  let format: AnimationFormat
  let size: PixelSize
  /// The concessions made to save bytes, as in `zoetrope_written`.
  var (tolerance, colors, frameRate, droppedCount, isStripped) = (0, 0, 0, 0, false)

  /// Creates a description from `written`, the description that the Swift API returns.
  ///
  /// - Parameter options: The options with which pictures were compressed, or nil if compressed frames were copied.
  init(
    _ written: WrittenAnimation, _ format: AnimationFormat, _ size: PixelSize,
    _ options: AnimationWriterOptions?
  ) {
    (self.written, self.format, self.size) = (written, format, size)
    isStripped = written.losesMetadata
    guard let options else { return }
    tolerance = options.tolerance
    // Every GIF has at most 256 colours, and those of scaled pictures are limited to as many.
    let limit = options.colors.limit.flatMap { $0 == 256 && format.hasPalettes ? nil : $0 }
    colors = written.colorLimit ?? limit ?? 0
  }

  init(_ written: WrittenAnimation, _ plan: EditPlan) {
    self.init(written, plan.format, plan.canvasSize, plan.rewriting?.options)
  }
}

extension zoetrope_written {
  /// Writes the description of `file` to `target`, with a handle for its bytes if the file is in memory.
  static func write(
    _ file: WrittenFile, _ destination: Destination,
    to target: UnsafeMutablePointer<zoetrope_written>?
  ) throws(AnimatedImageError) {
    guard let target = unsafe target else { return }
    let written = file.written
    var result = unsafe zoetrope_written()
    unsafe result.byte_count = Int64(written.byteCount)
    unsafe result.frame_count = Int64(written.frameCount)
    unsafe result.merged_count = Int64(written.mergedCount)
    unsafe result.copied_count = Int64(written.copiedCount)
    unsafe result.reduced_count = Int64(written.reducedCount)
    unsafe result.partial_alpha_share = written.partialAlphaShare
    unsafe result.has_exact_delays = written.hasExactDelays ? 1 : 0
    unsafe result.format = formatNumbers[file.format] ?? 0
    unsafe result.width = Int64(file.size.width)
    unsafe result.height = Int64(file.size.height)
    unsafe result.tolerance = Int32(file.tolerance)
    unsafe result.colors = Int32(file.colors)
    unsafe result.frame_rate = Int32(file.frameRate)
    unsafe result.is_stripped = file.isStripped ? 1 : 0
    unsafe result.dropped_count = Int64(file.droppedCount)
    if let bytes = destination.bytes { unsafe result.bytes = handle(owning: ByteHandle(bytes)) }
    try unsafe writeSized(result, to: target, "zoetrope_written")
  }

  /// Checks and clears `target`. Called before anything else, so that no handle of an earlier call is left after a
  /// failure.
  static func clear(
    _ target: UnsafeMutablePointer<zoetrope_written>?
  ) throws(AnimatedImageError) {
    if unsafe target != nil { try unsafe writeSized(Self(), to: target, "zoetrope_written") }
  }

  /// Throws `parameter` if `target` is NULL although the file is written to memory. Called before the file is written.
  static func check(
    _ target: UnsafeMutablePointer<zoetrope_written>?, for destination: Destination
  ) throws(AnimatedImageError) {
    if destination.bytes != nil { _ = try unsafe required(target, "written") }
  }
}

extension Bitmap {
  /// Creates a copy of the caller's picture in RGBA with 8 or 16 bits per sample.
  ///
  /// - Throws: `parameter` if the struct is invalid; `outOfMemory`.
  init(_ picture: UnsafePointer<zoetrope_picture>?) throws(AnimatedImageError) {
    let source = try unsafe required(picture, "picture")
    let given = try unsafe read(source, over: zoetrope_picture(), "zoetrope_picture")
    guard unsafe given.reserved == 0 else {
      throw AnimatedImageError(
        .parameter, "zoetrope_picture.reserved is \(unsafe given.reserved); it must be 0")
    }
    guard let form = PictureForm(number: unsafe given.format) else {
      throw AnimatedImageError(
        .parameter,
        "picture.format is \(unsafe given.format), which cannot be written: use ZOETROPE_RGBA8, _BGRA8, "
          + "_RGBX8, _RGB8, _GRAY8, _RGBA16, _RGB16 or _GRAY16")
    }
    let (width, height) = unsafe (given.width, given.height)
    // The sides are limited so that the number of bytes, with 8 bytes per pixel, fits in an `Int`.
    let sides: ClosedRange<Int64> = 1...Int64(Int32.max)
    guard sides.contains(width), sides.contains(height) else {
      throw AnimatedImageError(.parameter, "a picture cannot have the size \(width)x\(height)")
    }
    let row = Int(width) * form.bytesPerPixel
    let stride = unsafe given.bytes_per_row == 0 ? row : given.bytes_per_row
    guard stride >= row else {
      throw AnimatedImageError(
        .parameter,
        "picture.bytes_per_row is \(UInt(bitPattern: stride)), but a row has \(row) bytes")
    }
    let (last, overflow) = (Int(height) - 1).multipliedReportingOverflow(by: stride)
    let (needed, overflowAgain) = last.addingReportingOverflow(row)
    let capacity = unsafe UInt(bitPattern: given.byte_count)
    guard !overflow, !overflowAgain, UInt(needed) <= capacity else {
      throw AnimatedImageError(
        .parameter,
        "picture.byte_count is \(capacity), too small for \(height) rows of \(stride) bytes")
    }
    let pixels = try unsafe UnsafeRawPointer(required(given.pixels, "picture.pixels"))
    let size = PixelSize(width: Int(width), height: Int(height))
    let buffer = try PixelBuffer(
      asking: size, format: form.samples == .words ? .rgba16 : .rgba8, zeroed: false)
    for y in 0..<size.height {
      // In bounds: this reads a row of the picture, which has been checked to lie within the picture's bytes, and
      // writes a row of the buffer.
      unsafe form.copy(
        pixels + y * stride, to: buffer.baseAddress + y * buffer.bytesPerRow, count: size.width)
    }
    self = buffer.finish()
  }
}

/// The format of the caller's pixels.
private struct PictureForm {
  enum Samples { case bytes, words }

  let samples: Samples
  let channels: Int
  let isReversed: Bool
  let hasAlpha: Bool

  init?(number: Int32) {
    switch Int(number) {
    case ZOETROPE_RGBA8: self.init(.bytes, 4)
    case ZOETROPE_BGRA8: self.init(.bytes, 4, isReversed: true)
    case ZOETROPE_RGBX8: self.init(.bytes, 4, hasAlpha: false)
    case ZOETROPE_RGB8: self.init(.bytes, 3, hasAlpha: false)
    case ZOETROPE_GRAY8: self.init(.bytes, 1, hasAlpha: false)
    case ZOETROPE_RGBA16: self.init(.words, 4)
    case ZOETROPE_RGB16: self.init(.words, 3, hasAlpha: false)
    case ZOETROPE_GRAY16: self.init(.words, 1, hasAlpha: false)
    default: return nil
    }
  }

  private init(
    _ samples: Samples, _ channels: Int, isReversed: Bool = false, hasAlpha: Bool = true
  ) {
    self.samples = samples
    self.channels = channels
    self.isReversed = isReversed
    self.hasAlpha = hasAlpha
  }

  var bytesPerPixel: Int { channels * (samples == .words ? 2 : 1) }

  /// Copies `count` pixels from `source` to `target`, and converts them to RGBA.
  func copy(_ source: UnsafeRawPointer, to target: UnsafeMutableRawPointer, count: Int) {
    if channels == 4, hasAlpha, !isReversed {
      unsafe memcpy(target, source, count * bytesPerPixel)
    } else if samples == .words {
      unsafe copy(source, to: target, count: count, UInt16.self)
    } else {
      unsafe copy(source, to: target, count: count, UInt8.self)
    }
  }

  @inline(__always)
  private func copy<Sample: FixedWidthInteger & UnsignedInteger & BitwiseCopyable>(
    _ source: UnsafeRawPointer, to target: UnsafeMutableRawPointer, count: Int, _ type: Sample.Type
  ) {
    let size = MemoryLayout<Sample>.size
    let (red, green, blue) =
      channels == 1 ? (0, 0, 0) : isReversed ? (2 * size, size, 0) : (0, size, 2 * size)
    let (step, alpha) = (channels &* size, 3 &* size)
    for place in 0..<count {
      let from = unsafe source + place &* step
      let to = unsafe target + place &* 4 &* size
      unsafe to.storeBytes(of: from.loadUnaligned(fromByteOffset: red, as: type), as: type)
      unsafe to.storeBytes(
        of: from.loadUnaligned(fromByteOffset: green, as: type), toByteOffset: size, as: type)
      unsafe to.storeBytes(
        of: from.loadUnaligned(fromByteOffset: blue, as: type), toByteOffset: 2 &* size, as: type)
      unsafe to.storeBytes(
        of: hasAlpha ? from.loadUnaligned(fromByteOffset: alpha, as: type) : .max,
        toByteOffset: alpha, as: type)
    }
  }
}
