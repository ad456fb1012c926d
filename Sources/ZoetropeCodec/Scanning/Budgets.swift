/// A budget that adds up the sizes that a file declares, and throws when they exceed a limit.
package struct WorkBudget: Sendable {
  let limits: DecodingLimits
  let format: AnimationFormat
  private var declaredPixels = 0

  package init(limits: DecodingLimits, format: AnimationFormat) {
    self.limits = limits
    self.format = format
  }

  /// A maximum number of pixels that applies whatever the limits are, because byte counts of larger pictures would
  /// overflow. No memory can hold this many pixels.
  private static let mostPixels = 1 << 40

  /// Checks the size of the canvas.
  package func checkCanvas(_ size: PixelSize, at offset: Int) throws(AnimatedImageError) {
    let allowed = min(limits.canvasPixels, Self.mostPixels)
    guard size.area > allowed else { return }
    let excess = LimitExcess(.canvasPixels, found: size.area, allowed: allowed)
    throw .exceeding(
      .canvasPixels, found: size.area, allowed: allowed,
      "\(excess.description(naming: excess.kind.name)); the canvas is \(size)", format: format,
      byteOffset: offset)
  }

  /// Charges frame `index`, whose rectangle has `area` pixels.
  package mutating func charge(frame index: Int, area: Int, at offset: Int)
    throws(AnimatedImageError)
  {
    if index >= limits.frameCount {
      throw exceeded(.frameCount, found: index + 1, allowed: limits.frameCount, at: offset)
    }
    // A GIF frame may be larger than the canvas, and is decoded whole before it is clipped.
    if area > limits.canvasPixels {
      throw exceeded(.canvasPixels, found: area, allowed: limits.canvasPixels, at: offset)
    }
    declaredPixels = declaredPixels.addingClamped(area)
    if declaredPixels > limits.pixelsPerPlay {
      throw exceeded(
        .pixelsPerPlay, found: declaredPixels, allowed: limits.pixelsPerPlay, at: offset)
    }
  }

  private func exceeded(
    _ kind: LimitExcess.Kind, found: Int, allowed: Int, at offset: Int
  ) -> AnimatedImageError {
    .exceeding(kind, found: found, allowed: allowed, format: format, byteOffset: offset)
  }
}

/// A budget that counts the metadata kept from a file, to stay within the limits.
struct MetadataBudget: Sendable {
  let limits: DecodingLimits
  private var count = 0
  private var byteCount = 0
  private var hasLeftOut = false

  init(limits: DecodingLimits) { self.limits = limits }

  /// The maximum number of bytes of the next item.
  var itemBytes: Int { min(limits.metadataBytes, limits.metadataTotalBytes - byteCount) }

  /// Whether no further item is admitted, whatever its size.
  var isFull: Bool { count >= limits.metadataCount }

  /// Reserves room for an item of `byteCount` bytes. Returns false if the item does not fit.
  mutating func admits(byteCount: Int) -> Bool {
    guard count < limits.metadataCount, byteCount <= itemBytes else { return false }
    count += 1
    self.byteCount += byteCount
    return true
  }

  /// Charges the bytes by which inflating an admitted item has enlarged it, at most ``itemBytes``.
  mutating func charge(_ more: Int) { byteCount += max(more, 0) }

  /// Records that an item was dropped. Returns whether it is the first dropped item, because only the first is
  /// reported.
  mutating func leaveOut() -> Bool {
    defer { hasLeftOut = true }
    return !hasLeftOut
  }
}
