/// A source of the pictures of an animation whose frames are all encoded again.
package protocol PictureSupply {
  /// Whether the sources of the pictures have 16 bits per sample.
  var isDeep: Bool { get }
  /// Returns the picture with the given index. All calls with the same index return equal pictures.
  func picture(_ index: Int) throws(AnimatedImageError) -> CompositedFrame
}

/// An animation to be written from pictures: the order, the delays and the pixel format of the pictures.
package struct AnimationAssembly {
  private let pictures: any PictureSupply
  /// The indices of the pictures, in the order in which they are shown, with the delays to be stored.
  package let frames: [EditDelays.Kept]
  package private(set) var options: AnimationWriterOptions
  private let isCancelled: @Sendable () -> Bool
  /// The results of ``prepare()``.
  package private(set) var findings = Findings()

  /// The results of the first pass over the pictures.
  package struct Findings: Sendable {
    /// The damage found while decoding pictures.
    package fileprivate(set) var damage: [Damage] = []
    /// Whether the colours of some frames have to be reduced. True for sources with 16 bits per sample if the format
    /// holds 8, even if no sample needs more than 8.
    package fileprivate(set) var reducesColors = false
    /// Of all pixels in the changed rectangles, the share that are partly transparent and become opaque or fully
    /// transparent.
    package fileprivate(set) var partialAlphaShare = 0.0
    /// The first pictures of the animation, kept so that they need not be decoded and scaled twice.
    var kept: [CompositedFrame] = []
  }

  /// The maximum total size, in bytes, of the pictures that the first pass keeps for the second pass.
  private static let keptByteLimit = 32 << 20

  package init(
    _ pictures: any PictureSupply, frames: [EditDelays.Kept], options: AnimationWriterOptions,
    findings: Findings = Findings(), isCancelled: @escaping @Sendable () -> Bool
  ) {
    (self.pictures, self.frames, self.findings) = (pictures, frames, findings)
    self.isCancelled = isCancelled
    self.options = options
    self.options.frameCount = frames.count
    self.options.identicalFrames = .keep
  }

  /// Surveys the colours of all pictures, so that they are written in the smallest pixel format, and checks that the
  /// file format can hold them. If a palette format has to store the pictures exactly, all pictures are compressed once
  /// to make sure that they fit.
  ///
  /// - Throws: `unwritable` or `limitExceeded` if the format cannot hold the pictures, which for their size and the
  ///   number of plays is found out before any picture is decoded; the errors of decoding; `cancelled`.
  package mutating func prepare() throws(AnimatedImageError) {
    if let size = options.size {
      _ = try options.format.requireWritable().makeEncoder(
        AnimationRequest(
          canvasSize: size, isDeep: false, playCount: options.playCount, metadata: nil,
          effort: options.effort, survey: nil, hasPoster: options.poster != nil))
    }
    let reduction = options.reduction
    var survey = ColorSurvey(for: options)
    if let poster = options.poster {
      try survey.add(poster, changed: nil, isCancelled: isCancelled)
    }
    var room = Self.keptByteLimit
    var (last, before) = (Int?.none, Bitmap?.none)
    var (pixelCount, partialCount) = (0, 0)
    // Even if no further picture can change the survey, all pictures are decoded, so that their damage is known.
    for place in frames.indices {
      let (picture, changed) = try picture(place, &last)
      // A long delay takes several frames, which show the same picture.
      if let item = picture.damage, findings.damage.last != item { findings.damage.append(item) }
      room -= picture.bitmap.storage.byteCount
      if room >= 0 { findings.kept.append(picture) }
      guard let reduction else {
        try survey.add(picture.bitmap, changed: changed, isCancelled: isCancelled)
        continue
      }
      let all = PixelRect(picture.bitmap.size)
      let area = changed.map { $0.intersection(all) } ?? all
      pixelCount += area.size.area
      let flat = try picture.bitmap.flattened(
        reduction.transparency, in: area, partialCount: &partialCount, isCancelled: isCancelled)
      try survey.add(flat, changed: changed, isCancelled: isCancelled)
      if reduction.colors == .automatic, !findings.reducesColors {
        var bounds = area
        if let before {
          bounds = try PixelDifference.bounds(
            from: before, to: flat, within: changed, isCancelled: isCancelled)
        }
        findings.reducesColors = try !ColorReducer.fits(
          flat, from: before, in: bounds, isCancelled: isCancelled)
        before = flat
      }
    }
    options.survey = survey
    if let reduction {
      findings.reducesColors =
        !survey.fits(reduction) && (findings.reducesColors || reduction.colors != .automatic)
        || pictures.isDeep
      findings.partialAlphaShare = Double(partialCount) / Double(max(pixelCount, 1))
    } else if options.format.hasPalettes {
      _ = try write(to: LimitedSink(0, failsAbove: .max)) { _ in }
    }
  }

  /// Writes all frames to `sink`. The sink is finished if writing succeeds, and abandoned if this method throws.
  package func write(
    to sink: some AnimationSink, progress: (WritingProgress) -> Void
  ) throws(AnimatedImageError) -> WrittenAnimation {
    let writer = try sink.orAbandon { () throws(AnimatedImageError) in
      try AnimationWriter(to: sink, options: options, isCancelled: isCancelled)
    }
    do throws(AnimatedImageError) {
      var last: Int?
      for (place, kept) in frames.enumerated() {
        let frame = try picture(place, &last)
        try calling { () throws(AnimatedImageError) in
          try writer.append(frame.picture.bitmap, delay: kept.delay, changed: frame.changed)
        }
        progress(writer.progress)
      }
      let written = try calling { () throws(AnimatedImageError) in try writer.finish() }
      progress(writer.progress)
      return written
    } catch {
      writer.cancel()
      throw error
    }
  }

  /// Calls `body`, which uses the writer. In the errors of the writer, the frame index is that of the output; this
  /// method replaces it with the index of the picture.
  private func calling<Value>(
    _ body: () throws(AnimatedImageError) -> Value
  ) throws(AnimatedImageError) -> Value {
    do throws(AnimatedImageError) {
      return try body()
    } catch {
      guard let place = error.frameIndex else { throw error }
      throw AnimatedImageError(
        error.code, error.detail, format: error.format, frameIndex: frames[place].frame,
        limit: error.limit, systemError: error.systemError,
        underlyingError: error.underlyingError)
    }
  }

  /// Returns the picture of frame `place` of the output, and the area in which it may differ from the previous frame's
  /// picture. `last` is the index of the previous frame's picture; this method sets it to the index of the returned
  /// one.
  private func picture(
    _ place: Int, _ last: inout Int?
  ) throws(AnimatedImageError) -> (picture: CompositedFrame, changed: PixelRect?) {
    if isCancelled() { throw AnimatedImageError(.cancelled, "stopped between frames") }
    let index = frames[place].frame
    let isKept = findings.kept.indices.contains(place)
    let picture = isKept ? findings.kept[place] : try pictures.picture(index)
    defer { last = index }
    return (picture, index > 0 && last == index - 1 ? picture.dirtyRect : nil)
  }
}

/// The pictures of an image after cropping and scaling.
package final class ImagePictures: PictureSupply {
  private let reader: SeekingReader
  private let image: AnimatedImage
  private let crop: PixelRect
  private var renderer: FrameRenderer?
  private let rendering: Rendering?
  private let isCancelled: @Sendable () -> Bool
  /// The size of the pictures.
  package let size: PixelSize
  package let isDeep: Bool
  private var last: CompositedFrame?

  /// Creates a supply of the pictures of `image`, cropped to `crop` and then scaled as `rendering` requests.
  ///
  /// - Parameter keeps16Bit: Whether pictures keep 16 bits per sample if the file has them.
  package init(
    _ image: AnimatedImage, crop: PixelRect, _ rendering: Rendering?, keeps16Bit: Bool,
    isCancelled: @escaping @Sendable () -> Bool
  ) {
    let image = image.decoded(keeping16Bit: keeps16Bit)
    isDeep = image.header.isDeep
    (self.image, self.crop, self.rendering) = (image, crop, rendering)
    self.isCancelled = isCancelled
    reader = SeekingReader(image)
    renderer = rendering.map { FrameRenderer($0, of: crop.size, options: image.options) }
    size = renderer?.rendition.size ?? crop.size
  }

  package func picture(_ index: Int) throws(AnimatedImageError) -> CompositedFrame {
    if let last, last.index == index { return last }
    // Free the last frame first. Otherwise the reader would have to copy the canvas that it shares with that frame.
    last = nil
    let whole = try reader.frame(at: index, isCancelled: isCancelled)
    var frame = whole
    if crop != PixelRect(image.canvasSize) {
      let dirty = whole.dirtyRect.intersection(crop)
      frame = CompositedFrame(
        index: index, bitmap: try whole.bitmap.cropped(to: crop, isCancelled: isCancelled),
        dirtyRect: dirty.isEmpty
          ? .empty
          : PixelRect(
            x: dirty.x - crop.x, y: dirty.y - crop.y, width: dirty.width, height: dirty.height),
        damage: whole.damage)
    }
    if let rendered = try renderer?.render(frame, isCancelled: isCancelled) {
      frame = CompositedFrame(
        index: index, bitmap: rendered.bitmap, dirtyRect: rendered.dirtyRect, damage: whole.damage)
    }
    last = frame
    return frame
  }

  /// Returns the static image, cropped and scaled like the pictures, or nil if the static image is a frame.
  package func poster() throws(AnimatedImageError) -> Bitmap? {
    guard image.staticImage != nil else { return nil }
    let whole = try image.renderStaticBitmap().cropped(to: crop)
    guard let rendering, let target = rendering.target else { return whole }
    return try whole.scaled(
      to: target, fit: rendering.fit, filter: rendering.filter, linearLight: rendering.linearLight)
  }
}
