internal import ZoetropeFrames

/// The pictures that an encoder was given. Each is reduced to the part that is shown, scaled to at most its shown size,
/// and compared with the picture before.
struct PictureHistory: Sendable {
  /// A picture to encode.
  struct Picture {
    let bitmap: Bitmap
    /// The part of ``bitmap`` to show.
    let part: PixelRect
    /// Where it differs from the picture before; nil when everything is to be drawn.
    let difference: PixelDifference?
  }

  /// The last picture; nil if the screen contents are unknown.
  private(set) var last: Bitmap?
  /// The maximum size to which pictures are scaled, in the terminal's pixels; with a filter, the
  /// exact size.
  let shownSize: PixelSize?
  private let crop: PixelRect?
  private let filter: ScalingFilter?
  private var scaler: PictureScaler?

  /// Creates an empty history.
  ///
  /// - Parameters:
  ///   - crop: The part of each picture to show; nil for all of it.
  ///   - shownSize: How many pixels of the terminal that part covers; nil when unknown, in which case nothing is
  ///     scaled.
  ///   - filter: The filter; nil scales pictures down only.
  init(crop: PixelRect?, shownSize: PixelSize? = nil, filter: ScalingFilter? = nil) {
    (self.crop, self.shownSize, self.filter) = (crop, shownSize, filter)
  }

  /// Like ``init(crop:shownSize:filter:)``, for pictures of `pictureSize`. If they are only partly enlarged, the
  /// terminal does the rest.
  init(crop: PixelRect?, pictureSize: PixelSize, shownSize: PixelSize?, filter: ScalingFilter?) {
    let sent = shownSize.map { Self.sentSize(of: crop?.size ?? pictureSize, shown: $0) }
    self.init(crop: crop, shownSize: filter == nil ? shownSize : sent, filter: filter)
  }

  /// The size in which pictures of `pictureSize` are sent.
  func pixelSize(of pictureSize: PixelSize) -> PixelSize {
    let size = crop?.size ?? pictureSize
    if filter != nil, let shownSize { return shownSize }
    return PixelSize(
      width: min(size.width, shownSize?.width ?? .max),
      height: min(size.height, shownSize?.height ?? .max))
  }

  /// The maximum number of pixels to which a picture is enlarged before it is sent.
  private static let enlargedLimit = 1 << 20

  /// The size at which to send pictures of `size` that are shown at `shown`, if they are scaled at all. This is
  /// `shown`, or a whole multiple of `size` if `shown` would take too many bytes.
  static func sentSize(of size: PixelSize, shown: PixelSize) -> PixelSize {
    guard shown.area > max(enlargedLimit, size.area) else { return shown }
    let factor = (Double(enlargedLimit) / Double(max(size.area, 1))).squareRoot()
    let whole = max(Int(factor.rounded(.down)), 1)
    return PixelSize(width: size.width * whole, height: size.height * whole)
  }

  /// Discards the known screen contents: the next picture is drawn whole.
  mutating func forget() {
    last = nil
    scaler?.forget()
  }

  /// Records that the terminal shows `bitmap`.
  mutating func resume(showing bitmap: Bitmap) {
    last = bitmap
    scaler?.forget()
  }

  /// A hash of the last picture; nil when there is none.
  var contentHash: Int? {
    last.map { picture in
      var hasher = Hasher()
      hasher.combine(picture.size)
      // If allocation for the hash fails, the picture counts as different from any other.
      hasher.combine((try? PixelHash(of: picture))?.hashValue ?? .random(in: .min ... .max))
      return hasher.finalize()
    }
  }

  /// Takes the next picture, which may differ from the last one inside `changed`; nil when nothing visible changes.
  mutating func next(_ bitmap: Bitmap, changed: PixelRect?) -> Picture? {
    let all = PixelRect(bitmap.size)
    let cropped = crop.map { $0.intersection(all) } ?? all
    let part = cropped.isEmpty ? all : cropped
    guard !part.isEmpty else { return nil }
    var difference: PixelDifference?
    let before = last?.size == bitmap.size ? last : nil
    if let before {
      let found = PixelDifference(
        from: before, to: bitmap, within: (changed ?? part).intersection(part))
      if found.bounds.isEmpty { return nil }
      difference = found
    } else {
      scaler = shownSize.flatMap { PictureScaler(of: part, to: $0, filter: filter) }
    }
    last = bitmap
    guard scaler != nil else {
      return Picture(bitmap: bitmap, part: part, difference: difference)
    }
    guard
      let small = scaler?.scale(bitmap, after: before, changed: difference?.bounds ?? part)
    else { return nil }
    if let difference = small.difference, difference.bounds.isEmpty { return nil }
    return Picture(
      bitmap: small.bitmap, part: PixelRect(small.bitmap.size), difference: small.difference)
  }
}

/// Scales pictures to the size at which a terminal shows them; without a filter, only down.
///
/// Terminals shrink images by dropping pixels, which breaks text and thin lines, and the dropped pixels waste
/// bytes. The last result is kept, so that only changes are rescaled.
struct PictureScaler: Sendable {
  /// The size of the results.
  let size: PixelSize
  private let part: PixelRect
  private let scaler: FrameScaler
  private var last: Bitmap?

  /// Scales `part` of each picture to `room` with `filter`, or without a filter to at most `room`; nil if it
  /// already has that size.
  init?(of part: PixelRect, to room: PixelSize, filter: ScalingFilter?) {
    let limit = filter == nil ? part.size : PixelSize(width: .max, height: .max)
    size = PixelSize(
      width: min(limit.width, max(room.width, 1)), height: min(limit.height, max(room.height, 1)))
    guard size != part.size else { return nil }
    self.part = part
    scaler = FrameScaler(
      from: part.size, box: SourceBox(part.size), to: size, filter: filter ?? .bilinear,
      linearLight: false)
  }

  /// Discards the last result, because another picture has been shown since.
  mutating func forget() { last = nil }

  /// Returns `bitmap` at ``size``, and where that differs from the result before.
  ///
  /// `previous` is the picture before, which differs from `bitmap` only inside `changed`.
  mutating func scale(
    _ bitmap: Bitmap, after previous: Bitmap?, changed: PixelRect
  ) -> (bitmap: Bitmap, difference: PixelDifference?) {
    let picture = cropped(bitmap)
    guard let previous else {
      let result = endingWithoutMemory(try scaler.scale(picture))
      last = result
      return (result, nil)
    }
    let before = last ?? endingWithoutMemory(try scaler.scale(cropped(previous)))
    let inside = changed.intersection(part)
    let dirty = PixelRect(
      x: inside.x - part.x, y: inside.y - part.y, width: inside.width, height: inside.height)
    let (result, touched) = endingWithoutMemory(
      try scaler.rescale(picture, previous: before, dirty: dirty))
    last = result
    return (result, PixelDifference(from: before, to: result, within: touched))
  }

  private func cropped(_ bitmap: Bitmap) -> Bitmap {
    part == PixelRect(bitmap.size) ? bitmap : PixelBlock.picture(bitmap, part)
  }
}
