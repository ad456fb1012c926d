/// Decides for each frame of the output whether the source's bytes can be copied.
///
/// A frame can be copied if the canvas on which it will be drawn equals the one for which it was made. Otherwise a new
/// frame that shows the same picture replaces it. The disposal of the new frame is chosen so that the canvas afterwards
/// is the one for which the next frame was made. If no disposal achieves this, the next frame is encoded as well, as a
/// difference. In most files, a cut therefore costs one encoded frame. A plan that shows all frames in order copies
/// them without decoding a pixel.
///
/// Canvases and pictures are those of the source, even after a new frame whose colours are reduced. Each pixel that is
/// shown then has its colour in the source, or the colour to which that one was reduced when the pixel was last drawn.
/// The exception is a pixel that a second reduced frame does not draw because its reduced colour is that of the canvas
/// in the source: it keeps the colour to which the first reduced frame changed that of the canvas.
struct EditPlanner {
  private let pictures: SourcePictures
  private let image: AnimatedImage
  /// The part of the canvas that is kept.
  private let crop: PixelRect
  private let copying: any FrameCopying
  /// Whether a new frame can make pixels transparent.
  private let framesCanClear: Bool
  /// The reason why no frame is copied, or nil if frames may be copied.
  private let encodesAll: EditPlan.Reason?
  private let canvasBounds: PixelRect
  /// Whether the file ends in the middle of the last frame's data.
  private let isCut: Bool

  init(
    _ pictures: SourcePictures, _ copying: any FrameCopying, crop: PixelRect,
    encodesAll: EditPlan.Reason?
  ) {
    self.pictures = pictures
    image = pictures.image
    self.crop = crop
    self.copying = copying
    framesCanClear = image.format.outputFormat.writable?.framesCanClear ?? true
    self.encodesAll = encodesAll
    canvasBounds = PixelRect(crop.size)
    isCut =
      image.damage.contains { $0.kind == .cutBlock }
      && image.frames.last?.byteRange.upperBound == image.source.byteCount
  }

  /// A closure that checks whether the part of `picture` in `rect` can be encoded as a frame over `canvas`, and returns
  /// whether its colours have to be reduced for that. `source` is the index of the source's frame that shows `picture`.
  typealias Check = (_ picture: Bitmap, _ canvas: Bitmap, _ rect: PixelRect, _ source: Int)
    throws(AnimatedImageError) -> Bool

  /// Returns the steps that produce `frames`. Also returns the picture of the first frame that has to be encoded, if
  /// any, and the canvas below it.
  ///
  /// - Parameter check: A closure that is called for each frame to be encoded, and that throws if the frame cannot be
  ///   encoded.
  func steps(
    for frames: [EditDelays.Kept], check: Check
  ) throws(AnimatedImageError) -> (steps: [EditPlan.Step], seam: EditPlan.Seam?) {
    var steps: [EditPlan.Step] = []
    var seam: EditPlan.Seam?
    steps.reserveCapacity(frames.count)
    var canvas = EditCanvas(pictures, crop)
    for (place, kept) in frames.enumerated() {
      let next = place + 1 < frames.count ? frames[place + 1].frame : nil
      var step = EditPlan.Step(source: kept.frame, delay: kept.delay)
      if let reason = try reasonToEncode(kept.frame, isFirst: place == 0, on: canvas, next: next) {
        step.reason = reason
        let picture = try self.picture(kept.frame)
        let below = try canvas.bitmap()
        let drawing = try drawing(
          of: picture, over: below, source: kept.frame, next: next, isFirst: place == 0)
        step.reducesColors = try check(picture, below, drawing.rect, kept.frame)
        if seam == nil { seam = EditPlan.Seam(place: place, picture: picture, below: below) }
        step.drawing = drawing
        try canvas.advance(past: drawing, showing: picture, over: below)
      } else {
        canvas.advance(pastCopyOf: kept.frame)
      }
      steps.append(step)
    }
    return (steps, seam)
  }

  private func picture(_ index: Int) throws(AnimatedImageError) -> Bitmap {
    try pictures.composite(index).cropped(to: crop, isCancelled: pictures.isCancelled)
  }

  /// Returns the reason why frame `index` cannot be copied onto `canvas`, or nil if it can be copied.
  private func reasonToEncode(
    _ index: Int, isFirst: Bool, on canvas: EditCanvas, next: Int?
  ) throws(AnimatedImageError) -> EditPlan.Reason? {
    if let encodesAll { return encodesAll }
    let frame = image.frames[index]
    if isCut, index == image.frames.count - 1 { return .damage }
    if isFirst, index > 0 {
      let fits =
        switch copying.firstFrame {
        case .anyPart: true
        // A frame without pixels also makes the canvas of a GIF larger.
        case .inside: frame.rect.maxX <= canvasBounds.maxX && frame.rect.maxY <= canvasBounds.maxY
        case .whole: frame.rect == canvasBounds
        }
      if !fits { return .firstFrame }
    }
    let isAtHome = try canvas.matches(index)
    if !isAtHome, try !hidesCanvas(index) { return .canvas }
    // If a new frame cannot make pixels transparent, and the next frame needs that, this frame needs another disposal,
    // and cannot be copied.
    guard !framesCanClear, let next, next != index + 1, try !hidesCanvas(next) else {
      return nil
    }
    let left = try pictures.canvas(before: index + 1)
    if pictures.isClear[index + 1] { return nil }
    let lost = try left.pixelsLost(
      to: pictures.composite(next), isCancelled: pictures.isCancelled)
    return lost.isEmpty ? nil : .transparency
  }

  /// Returns whether frame `index` replaces every pixel. If it does, neither its picture nor the canvas that it leaves
  /// depends on the canvas before it.
  private func hidesCanvas(_ index: Int) throws(AnimatedImageError) -> Bool {
    let frame = image.frames[index]
    guard frame.isIndependent, frame.disposal != .previous, frame.rect.contains(canvasBounds),
      !copying.mayShowCanvas(through: frame)
    else { return false }
    return try pictures.isIntact(index)
  }

  /// Returns how `picture`, which is that of frame `source`, is drawn onto `below`. If possible, `picture` is drawn so
  /// that frame `next` can be copied.
  private func drawing(
    of picture: Bitmap, over below: Bitmap, source: Int, next: Int?, isFirst: Bool
  ) throws(AnimatedImageError) -> EditPlan.Drawing {
    let isCancelled = pictures.isCancelled
    var changed = try PixelDifference.bounds(from: below, to: picture, isCancelled: isCancelled)
    if isFirst, copying.firstFrame != .anyPart { changed = canvasBounds }
    if changed.isEmpty { changed = PixelRect(x: 0, y: 0, width: 1, height: 1) }
    let keep = EditPlan.Drawing(rect: changed, disposal: .keep)
    guard let next else { return keep }
    if encodesAll == nil, !(isCut && next == image.frames.count - 1) {
      if next == source + 1, image.frames[source].disposal == .keep {
        return EditPlan.Drawing(rect: changed, disposal: .keep, next: next)
      }
      if try hidesCanvas(next) { return keep }
      let wanted = try pictures.canvas(before: next)
      let rest = try PixelDifference.bounds(from: picture, to: wanted, isCancelled: isCancelled)
      if rest.isEmpty { return EditPlan.Drawing(rect: changed, disposal: .keep, next: next) }
      let cleared = changed.union(rest)
      if wanted.isClear(in: cleared) {
        return EditPlan.Drawing(rect: cleared, disposal: .background, next: next)
      }
      if !isFirst,
        try PixelDifference.bounds(from: below, to: wanted, isCancelled: isCancelled).isEmpty
      {
        return EditPlan.Drawing(rect: changed, disposal: .previous, next: next)
      }
    }
    if framesCanClear { return keep }
    let lost = try picture.pixelsLost(to: self.picture(next), isCancelled: isCancelled)
    if lost.isEmpty { return keep }
    return EditPlan.Drawing(rect: changed.union(lost), disposal: .background)
  }
}

/// The canvas between two frames of the output.
struct EditCanvas {
  private let pictures: SourcePictures
  private let crop: PixelRect
  /// The index of the source's frame that is drawn on this canvas. Nil if the canvas is the bitmap in ``drawn``.
  private var source: Int? = 0
  private var drawn: Bitmap?

  /// Creates a transparent canvas.
  init(_ pictures: SourcePictures, _ crop: PixelRect) {
    (self.pictures, self.crop) = (pictures, crop)
  }

  mutating func advance(pastCopyOf index: Int) {
    source = index + 1
    drawn = nil
  }

  mutating func advance(
    past drawing: EditPlan.Drawing, showing picture: Bitmap, over below: Bitmap
  ) throws(AnimatedImageError) {
    source = drawing.next
    drawn = nil
    guard source == nil else { return }
    switch drawing.disposal {
    case .keep: drawn = picture
    case .background:
      drawn = try picture.cleared(in: drawing.rect, isCancelled: pictures.isCancelled)
    case .previous: drawn = below
    }
  }

  func bitmap() throws(AnimatedImageError) -> Bitmap {
    if let drawn { return drawn }
    return try pictures.canvas(before: source ?? 0)
      .cropped(to: crop, isCancelled: pictures.isCancelled)
  }

  /// Returns whether frame `index` of the source was made for this canvas. The canvas must not be cropped.
  func matches(_ index: Int) throws(AnimatedImageError) -> Bool {
    if let source {
      if source == index || pictures.isClear[source] && pictures.isClear[index] { return true }
    }
    return try PixelDifference.bounds(
      from: bitmap(), to: pictures.canvas(before: index), isCancelled: pictures.isCancelled
    ).isEmpty
  }
}
