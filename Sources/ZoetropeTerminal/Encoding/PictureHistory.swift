internal import ZoetropeFrames

/// The pictures that an encoder has to draw. Each picture is cropped to the part to show, scaled to the size at which
/// it is sent, and compared with the previous picture.
struct PictureHistory: Sendable {
  /// A picture to encode, scaled if necessary.
  struct Picture {
    let bitmap: Bitmap
    /// The part of ``bitmap`` to show.
    let part: PixelRect
    /// The pixels that differ from the previous picture, or nil if the whole picture has to be drawn.
    let difference: PixelDifference?
  }

  /// The last picture, or nil if the contents of the screen are unknown.
  private(set) var last: Bitmap?
  /// The size, in the terminal's pixels, to which pictures are scaled, or nil if they are not scaled. Without a filter,
  /// only larger pictures are scaled.
  let shownSize: PixelSize?
  private let crop: PixelRect?
  private let filter: ScalingFilter?
  private var scaler: PictureScaler?

  /// Creates an empty history.
  ///
  /// - Parameters:
  ///   - crop: The part of each picture to show, or nil for the whole picture.
  ///   - shownSize: The size, in the terminal's pixels, at which this part is shown, or nil if unknown. If it is nil,
  ///     pictures are not scaled.
  ///   - filter: The filter for scaling pictures. If it is nil, only pictures larger than `shownSize` are scaled.
  init(crop: PixelRect?, shownSize: PixelSize? = nil, filter: ScalingFilter? = nil) {
    (self.crop, self.shownSize, self.filter) = (crop, shownSize, filter)
  }

  /// Creates an empty history for pictures of `pictureSize`. If enlarging pictures to `shownSize` would take too many
  /// bytes, they are enlarged only partly, and the terminal does the rest. See ``init(crop:shownSize:filter:)``.
  init(crop: PixelRect?, pictureSize: PixelSize, shownSize: PixelSize?, filter: ScalingFilter?) {
    let sent = shownSize.map { Self.sentSize(of: crop?.size ?? pictureSize, shown: $0) }
    self.init(crop: crop, shownSize: filter == nil ? shownSize : sent, filter: filter)
  }

  /// Returns the size at which pictures of `pictureSize` are sent.
  func pixelSize(of pictureSize: PixelSize) -> PixelSize {
    let size = crop?.size ?? pictureSize
    if filter != nil, let shownSize { return shownSize }
    return PixelSize(
      width: min(size.width, shownSize?.width ?? .max),
      height: min(size.height, shownSize?.height ?? .max))
  }

  /// The maximum number of pixels to which a picture is enlarged before it is sent.
  private static let enlargedLimit = 1 << 20

  /// Returns the size at which pictures of `size`, shown at the size `shown`, are sent. The result is `shown`, or a
  /// whole multiple of `size` if `shown` would take too many bytes.
  static func sentSize(of size: PixelSize, shown: PixelSize) -> PixelSize {
    guard !size.isEmpty, shown.area > max(enlargedLimit, size.area) else { return shown }
    let factor = (Double(enlargedLimit) / Double(size.area)).squareRoot()
    let whole = max(Int(factor.rounded(.down)), 1)
    return PixelSize(width: size.width * whole, height: size.height * whole)
  }

  /// Discards what is known about the screen, so that the next picture is drawn whole.
  mutating func forget() {
    last = nil
    scaler?.forget()
  }

  /// Records that the terminal shows `bitmap`.
  mutating func resume(showing bitmap: Bitmap) {
    last = bitmap
    scaler?.forget()
  }

  /// A hash of the last picture, or nil if there is none.
  var contentHash: Int? {
    last.map { picture in
      var hasher = Hasher()
      hasher.combine(picture.size)
      // If the memory for the hash cannot be allocated, the picture counts as different from every other picture.
      hasher.combine((try? PixelHash(of: picture))?.hashValue ?? .random(in: .min ... .max))
      return hasher.finalize()
    }
  }

  /// Makes `bitmap` the last picture, and returns what has to be drawn, or nil if no visible pixel changes. `changed`
  /// is the rectangle in which the picture may differ from the previous one, or nil if unknown.
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

/// Scales pictures to the size at which they are sent to the terminal.
///
/// Terminals shrink images by dropping pixels. This breaks text and thin lines, and the bytes of the dropped pixels are
/// wasted. The scaler keeps its last result, so that only changed pixels have to be scaled again.
struct PictureScaler: Sendable {
  /// The size of the scaled pictures.
  let size: PixelSize
  private let part: PixelRect
  private let scaler: FrameScaler
  private var last: Bitmap?

  /// Creates a scaler for `part` of each picture. With a filter, the part is scaled to the size `room`. Without a
  /// filter, the part is only scaled down, and only along an axis on which it is larger than `room`. Returns nil if the
  /// part already has the resulting size.
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

  /// Discards the last result, because another picture has been shown since then.
  mutating func forget() { last = nil }

  /// Returns the part of `bitmap` scaled to ``size``, and the pixels that differ from the scaled previous picture.
  ///
  /// `previous` is the previous picture, which differs from `bitmap` only inside `changed`. If `previous` is nil, the
  /// returned difference is nil.
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
      try scaler.rescale(picture, previous: before, changed: dirty))
    last = result
    return (result, PixelDifference(from: before, to: result, within: touched))
  }

  private func cropped(_ bitmap: Bitmap) -> Bitmap {
    part == PixelRect(bitmap.size) ? bitmap : PixelBlock.picture(bitmap, part)
  }
}
