import Zoetrope
import ZoetropeProcess

/// The pictures of an animation that is written anew, by number.
protocol PictureSupply {
  /// Picture `index`; the same one for each call.
  func picture(_ index: Int) throws(AnimatedImageError) -> CompositedFrame
}

/// An animation that is written from pictures: which ones, for how long, in which form.
struct AnimationAssembly {
  private let pictures: any PictureSupply
  /// The pictures in order, with the delays that are stored.
  let frames: [EditDelays.Kept]
  private var options: AnimationWriterOptions
  /// Damage of the pictures that were decoded.
  private(set) var damage: [Damage] = []

  init(
    _ pictures: any PictureSupply, frames: [EditDelays.Kept], options: AnimationWriterOptions
  ) {
    (self.pictures, self.frames) = (pictures, frames)
    self.options = options
    self.options.frameCount = frames.count
    self.options.identicalFrames = .keep
  }

  /// Looks at the colours of all pictures, so that they are written in the smallest form, and makes sure that the
  /// format can hold them: of those that cannot be refused by their colours alone, all are compressed once.
  ///
  /// - Throws: `unwritable` if it cannot; the errors of decoding; `cancelled` after a signal.
  mutating func prepare() throws(AnimatedImageError) {
    var survey = ColorSurvey(keepsHiddenColors: options.keepsHiddenColors)
    if let poster = options.poster { try survey.add(poster) }
    var last: Int?
    for place in frames.indices where !survey.isSettled {
      let frame = try picture(place, &last)
      if let item = frame.picture.damage { damage.append(item) }
      try survey.add(frame.picture.bitmap, changed: frame.changed)
    }
    options.survey = survey
    guard options.format == .gif else { return }
    _ = try write(to: CountingSink()) { _ in }
  }

  /// Writes all frames to `sink`, which is finished, or abandoned if this throws.
  func write(
    to sink: some AnimationSink, progress: (AnimationWriter.Progress) -> Void
  ) throws(AnimatedImageError) -> WrittenAnimation {
    let writer: AnimationWriter
    do throws(AnimatedImageError) {
      writer = try AnimationWriter(options, to: sink)
    } catch {
      sink.abandon()
      throw error
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
      return try calling { () throws(AnimatedImageError) in try writer.finish() }
    } catch {
      writer.cancel()
      throw error
    }
  }

  /// Calls the writer, whose errors name a frame of the output; those that are thrown name the picture.
  private func calling<Value>(
    _ body: () throws(AnimatedImageError) -> Value
  ) throws(AnimatedImageError) -> Value {
    do throws(AnimatedImageError) {
      return try body()
    } catch {
      guard let place = error.frameIndex else { throw error }
      throw AnimatedImageError(
        error.code, error.detail, format: error.format, frameIndex: frames[place].frame,
        limit: error.limit, systemError: error.systemError)
    }
  }

  /// The picture of frame `place`, and where it may differ from the one before, whose number is `last`.
  private func picture(
    _ place: Int, _ last: inout Int?
  ) throws(AnimatedImageError) -> (picture: CompositedFrame, changed: PixelRect?) {
    if Signals.ending != nil { throw AnimatedImageError(.cancelled, "interrupted") }
    let index = frames[place].frame
    let picture = try pictures.picture(index)
    defer { last = index }
    return (picture, index > 0 && last == index - 1 ? picture.dirtyRect : nil)
  }
}

/// The pictures of an image, cropped and scaled.
final class ImagePictures: PictureSupply {
  private let reader: SeekingReader
  private let image: AnimatedImage
  private let crop: PixelRect
  private var renderer: FrameRenderer?
  private let rendering: Rendering?
  /// The size of the pictures.
  let size: PixelSize
  private var last: CompositedFrame?

  init(_ image: AnimatedImage, crop: PixelRect, _ rendering: Rendering?) {
    var image = image
    // As deep as the file, so that its pixels are exact.
    image.options.keeps16Bit = image.isDeep
    (self.image, self.crop, self.rendering) = (image, crop, rendering)
    reader = SeekingReader(image)
    renderer = rendering.map { FrameRenderer($0, of: crop.size, options: image.options) }
    size = renderer?.rendition.size ?? crop.size
  }

  func picture(_ index: Int) throws(AnimatedImageError) -> CompositedFrame {
    if let last, last.index == index { return last }
    // Freed first, so that the reader does not have to copy its canvas for it.
    last = nil
    let whole = try reader.frame(at: index) { Signals.ending != nil }
    var frame = whole
    if crop != PixelRect(image.canvasSize) {
      let dirty = whole.dirtyRect.intersection(crop)
      frame = CompositedFrame(
        index: index, bitmap: try whole.bitmap.cropped(to: crop),
        dirtyRect: dirty.isEmpty
          ? .empty
          : PixelRect(
            x: dirty.x - crop.x, y: dirty.y - crop.y, width: dirty.width, height: dirty.height),
        damage: whole.damage)
    }
    if let rendered = try renderer?.render(frame, isCancelled: { Signals.ending != nil }) {
      frame = CompositedFrame(
        index: index, bitmap: rendered.bitmap, dirtyRect: rendered.dirtyRect, damage: whole.damage)
    }
    last = frame
    return frame
  }

  /// The static image, if it is not a frame, in the form of the pictures.
  func poster() throws(AnimatedImageError) -> Bitmap? {
    guard image.staticImage != nil else { return nil }
    let whole = CompositedFrame(index: 0, bitmap: try image.renderStaticBitmap().cropped(to: crop))
    guard let rendering else { return whole.bitmap }
    return try whole.scaled(by: rendering).bitmap
  }
}
