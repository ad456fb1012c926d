/// Chooses the rectangle and the disposal of each frame of a file, for all formats.
///
/// A frame is placed once the next one is known, because the disposal of a frame is chosen to make the next frame as
/// cheap as possible. The encoder decides later whether unchanged pixels inside the rectangle are drawn again.
package struct FramePlacer: Sendable {
  /// A frame whose rectangle and disposal are decided.
  package struct Placed: Sendable {
    package var work: FrameWork
    package var disposal = DisposalMethod.keep
  }

  /// Whether a frame can make pixels transparent. A frame of an APNG can; in a GIF, only the disposal of the previous
  /// frame can.
  private let framesCanClear: Bool
  /// Whether the disposal *background* is tried if it may save bytes. *Previous* is never tried, because Pillow and
  /// some GIF readers draw the frames after it wrong.
  private let triesBackground: Bool
  /// The last frame, which is placed once the next one is known.
  package private(set) var last: Placed?

  package init(framesCanClear: Bool, triesBackground: Bool) {
    self.framesCanClear = framesCanClear
    self.triesBackground = triesBackground
  }

  /// Returns the area in which `picture` differs from the last frame. The area is empty if both are equal, and is the
  /// whole canvas for the first frame.
  ///
  /// - Parameter hint: The area outside which `picture` equals the last frame, or nil if it is unknown. Debug builds
  ///   check the hint.
  package func changes(to picture: Bitmap, within hint: PixelRect?) -> PixelRect {
    guard let last = last?.work.picture else { return PixelRect(picture.size) }
    let changes = PixelDifference.bounds(from: last, to: picture, within: hint)
    assert(
      hint == nil || changes.union(PixelDifference.bounds(from: last, to: picture)) == changes,
      "a frame differs from the previous one outside the rectangle given as changed")
    return changes
  }

  /// Returns the canvas on which `picture` will be drawn, or nil for the first frame. If *background* is later chosen
  /// for the last frame only to save bytes, the actual canvas is a different one.
  ///
  /// - Parameter hint: The area outside which `picture` equals the last frame, or nil if it is unknown.
  package func canvas(
    for picture: Bitmap, within hint: PixelRect?
  ) throws(AnimatedImageError) -> Bitmap? {
    guard let last else { return nil }
    let shown = last.work.picture
    guard !framesCanClear else { return shown }
    let vanished = shown.pixelsLost(to: picture, in: hint)
    return vanished.isEmpty ? shown : try shown.cleared(in: last.work.rect.union(vanished))
  }

  /// Adds the next frame, which differs from the last one in `changes`. Returns the last frame, which is now placed.
  ///
  /// - Parameter cost: A closure that returns the cost of a frame, in any unit.
  package mutating func add(
    _ picture: Bitmap, changes: PixelRect,
    cost: (FrameWork) throws(AnimatedImageError) -> Int
  ) throws(AnimatedImageError) -> Placed? {
    guard var before = last else {
      last = Placed(work: FrameWork(picture: picture, base: nil, rect: changes))
      return nil
    }
    let (shown, area) = (before.work.picture, before.work.rect)
    var best = Self.work(picture, on: shown, changes)
    let vanished = shown.pixelsLost(to: picture, in: changes)
    if !framesCanClear, !vanished.isEmpty {
      // Pixels that become transparent must lie in the rectangle of the frame that is disposed of.
      before.work.rect = area.union(vanished)
      before.disposal = .background
      best = try Self.work(picture, on: shown.cleared(in: before.work.rect))
    } else if triesBackground, !vanished.intersection(area).isEmpty {
      let candidate = try Self.work(picture, on: shown.cleared(in: area))
      if try cost(candidate) < cost(best) { (best, before.disposal) = (candidate, .background) }
    }
    last = Placed(work: best)
    return before
  }

  /// Returns the last frame, which is now placed, or nil if there was no frame.
  ///
  /// - Parameter first: The first picture if it follows the last one, or nil if the animation is played once. A player
  ///   that does not clear the canvas between plays draws this picture on the canvas that the last frame leaves, so the
  ///   last frame is disposed of if pixels have to become transparent and its colours allow that.
  package mutating func finish(loopingTo first: Bitmap?) -> Placed? {
    defer { last = nil }
    guard var placed = last, let first, !framesCanClear else { return last }
    let lost = placed.work.picture.pixelsLost(to: first)
    let rect = placed.work.rect.union(lost)
    if !lost.isEmpty,
      rect == placed.work.rect
        || ColorReducer.fits(placed.work.picture, from: placed.work.base, in: rect)
    {
      placed.work.rect = rect
      placed.disposal = .background
    }
    return placed
  }

  /// Returns the frame that draws `picture` on `base`. If both are equal, the frame is a single pixel that changes
  /// nothing.
  private static func work(
    _ picture: Bitmap, on base: Bitmap, _ changes: PixelRect? = nil
  ) -> FrameWork {
    let rect = changes ?? PixelDifference.bounds(from: base, to: picture)
    return FrameWork(
      picture: picture, base: base,
      rect: rect.isEmpty ? PixelRect(x: 0, y: 0, width: 1, height: 1) : rect)
  }
}

extension FrameWork {
  /// An estimate of the compressed size of the frame: the number of pixels that equal neither the pixel to the left nor
  /// the pixel above. These pixels are counted once with unchanged pixels drawn and once with unchanged pixels left
  /// out, and the lower number is used.
  package var estimatedCost: Int {
    picture.format == .rgba16 ? estimate(UInt64.self) : estimate(UInt32.self)
  }

  private func estimate<Word: FixedWidthInteger & BitwiseCopyable>(_ type: Word.Type) -> Int {
    guard let base else { return rect.size.area }
    let size = MemoryLayout<Word>.size
    var (drawn, left) = (0, 0)
    var above: [(Word, Word)] = Array(repeating: (0, 0), count: rect.width)
    for y in rect.y..<rect.maxY {
      let (row, below) = (picture.row(y), base.row(y))
      var before: (Word, Word) = (0, 0)
      for x in 0..<rect.width {
        let word = row.load(type, at: (rect.x &+ x) &* size)
        let change = word == below.load(type, at: (rect.x &+ x) &* size) ? 0 : word
        if word != before.0, word != above[x].0 { drawn += 1 }
        if change != before.1, change != above[x].1 { left += 1 }
        before = (word, change)
        above[x] = before
      }
    }
    return min(drawn, left) + rect.size.area / 64
  }
}
