extension FrameScaler {
  /// The picture at ``size``, in the format it came in.
  ///
  /// Alpha-correct: colours count by their alpha, and a pixel whose alpha comes out as 0 is
  /// transparent black. (``ScalingFilter/nearest`` copies pixels as they are.) With equal sizes
  /// the result is the picture itself, not a copy. The process ends when the system has no memory
  /// for the result; ``scale(_:isCancelled:)`` throws then.
  ///
  /// - Precondition: the picture has ``sourceSize``.
  public func scale(_ bitmap: Bitmap) -> Bitmap {
    do {
      return try scale(bitmap) { false }
    } catch {
      fatalError("\(error)")
    }
  }

  /// As ``scale(_:)``, asking `isCancelled` every few rows.
  ///
  /// - Throws: ``AnimatedImageError/Code/cancelled`` when `isCancelled` says true; what was
  ///   drawn is dropped. ``AnimatedImageError/Code/limitExceeded`` when the system has no memory
  ///   for the result.
  /// - Precondition: the picture has ``sourceSize``.
  public func scale(
    _ bitmap: Bitmap, isCancelled: () -> Bool
  ) throws(AnimatedImageError) -> Bitmap {
    precondition(bitmap.size == sourceSize, "a picture of \(bitmap.size), not \(sourceSize)")
    if case .same = plan { return bitmap }
    if case .nothing = plan {
      return try PixelBuffer(asking: size, format: bitmap.format).finish()
    }
    if let detour = detour(of: bitmap.format) {
      return try scale(bitmap.converted(asking: detour), isCancelled: isCancelled)
        .converted(asking: bitmap.format)
    }
    var buffer = try PixelBuffer(asking: size, format: bitmap.format, zeroed: false)
    try draw(bitmap, region: PixelRect(size), into: &buffer, isCancelled: isCancelled)
    return buffer.finish()
  }

  /// The picture at ``size``, recomputing only what `dirty` has touched.
  ///
  /// `previous` is what this scaler (or an equal one) made of a picture that differs from
  /// `bitmap` nowhere but in `dirty`. The result is bit-identical to `scale(bitmap)`, and
  /// `dirtyOut` holds every pixel in which it can differ from `previous`: `dirty` scaled and
  /// grown by the filter's reach. Costs a copy of `previous` plus the share of the work that
  /// `dirtyOut` is of the picture; formats other than 32-bit and ``PixelFormat/rgba16`` are
  /// converted whole.
  ///
  /// - Precondition: the picture has ``sourceSize``; `previous` has ``size`` and its format.
  public func rescale(
    _ bitmap: Bitmap, previous: Bitmap, dirty: PixelRect
  ) -> (bitmap: Bitmap, dirtyOut: PixelRect) {
    do {
      return try rescale(bitmap, previous: previous, dirty: dirty) { false }
    } catch {
      fatalError("\(error)")
    }
  }

  /// As ``rescale(_:previous:dirty:)``.
  ///
  /// - Throws: As ``scale(_:isCancelled:)``.
  package func rescale(
    _ bitmap: Bitmap, previous: Bitmap, dirty: PixelRect, isCancelled: () -> Bool
  ) throws(AnimatedImageError) -> (bitmap: Bitmap, dirtyOut: PixelRect) {
    precondition(
      previous.size == size && previous.format == bitmap.format,
      "a previous picture of \(previous.size) in \(previous.format)")
    let region = touched(by: dirty)
    if region.isEmpty { return (previous, .empty) }
    if region == PixelRect(size) || detour(of: bitmap.format) != nil {
      return (try scale(bitmap, isCancelled: isCancelled), region)
    }
    precondition(bitmap.size == sourceSize, "a picture of \(bitmap.size), not \(sourceSize)")
    if case .same = plan { return (bitmap, region) }
    var buffer = try PixelBuffer(asking: size, format: bitmap.format, zeroed: false)
    let count = buffer.bytesPerRow * size.height
    // Same size and format, so the same layout; both blocks hold `count` bytes.
    unsafe buffer.baseAddress.copyMemory(from: previous.storage.baseAddress, byteCount: count)
    try draw(bitmap, region: region, into: &buffer, isCancelled: isCancelled)
    return (buffer.finish(), region)
  }

  /// The target pixels that depend on source pixels in `dirty`; empty when none does.
  public func touched(by dirty: PixelRect) -> PixelRect {
    let inside = dirty.intersection(PixelRect(sourceSize))
    guard !inside.isEmpty else { return .empty }
    let columns: Range<Int>
    let rows: Range<Int>
    switch plan {
    case .nothing: return .empty
    case .same: return inside
    case .pick(let columnPicks, let rowPicks):
      columns = Self.span(of: inside.x..<inside.maxX, in: columnPicks)
      rows = Self.span(of: inside.y..<inside.maxY, in: rowPicks)
    case .resample(let horizontal, let vertical, _):
      columns = horizontal.targets(touching: inside.x..<inside.maxX)
      rows = vertical.targets(touching: inside.y..<inside.maxY)
    }
    guard !columns.isEmpty, !rows.isEmpty else { return .empty }
    return PixelRect(
      x: columns.lowerBound, y: rows.lowerBound, width: columns.count, height: rows.count)
  }

  /// The indices of the picks that lie in `range`; picks grow with their index.
  private static func span(of range: Range<Int>, in picks: [Int32]) -> Range<Int> {
    let first = picks.firstIndex { $0 >= range.lowerBound } ?? picks.count
    let last = picks.firstIndex { $0 >= range.upperBound } ?? picks.count
    return first..<last
  }

  /// The format in which pictures of `format` are scaled, when not in their own.
  private func detour(of format: PixelFormat) -> PixelFormat? {
    switch (plan, format) {
    case (.pick, _), (.same, _), (.nothing, _): nil
    case (_, .rgb565), (_, .grey8): .rgbx8
    case (_, .rgba8Premultiplied): isLinearLight ? .rgba8 : nil
    default: nil
    }
  }

  private func draw(
    _ bitmap: Bitmap, region: PixelRect, into buffer: inout PixelBuffer,
    isCancelled: () -> Bool
  ) throws(AnimatedImageError) {
    switch plan {
    case .same, .nothing: break
    case .pick(let columns, let rows):
      try pick(
        bitmap, columns: columns, rows: rows, region: region, into: &buffer,
        isCancelled: isCancelled)
    case .resample(let horizontal, let vertical, let verticalFirst):
      try resample(
        bitmap, Axes(horizontal: horizontal, vertical: vertical, verticalFirst: verticalFirst),
        region: region, into: &buffer, isCancelled: isCancelled)
    }
  }
}
