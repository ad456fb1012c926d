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
  /// Polled every few rows. Once it returns true, the method at work throws `cancelled`.
  private let isCancelled: @Sendable () -> Bool
  /// The last frame, which is placed once the next one is known.
  package private(set) var last: Placed?

  package init(
    framesCanClear: Bool, triesBackground: Bool,
    isCancelled: @escaping @Sendable () -> Bool = { false }
  ) {
    self.framesCanClear = framesCanClear
    self.triesBackground = triesBackground
    self.isCancelled = isCancelled
  }

  /// Returns the area in which `picture` differs from the last frame. The area is empty if both are equal, and is the
  /// whole canvas for the first frame.
  ///
  /// - Parameter hint: The area outside which `picture` equals the last frame, or nil if it is unknown. Debug builds
  ///   check the hint.
  package func changes(
    to picture: Bitmap, within hint: PixelRect?
  ) throws(AnimatedImageError) -> PixelRect {
    guard let last = last?.work.picture else { return PixelRect(picture.size) }
    let changes = try PixelDifference.bounds(
      from: last, to: picture, within: hint, isCancelled: isCancelled)
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
    let vanished = try shown.pixelsLost(to: picture, in: hint, isCancelled: isCancelled)
    if vanished.isEmpty { return shown }
    return try shown.cleared(in: last.work.rect.union(vanished), isCancelled: isCancelled)
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
    var best = try work(picture, on: shown, changes)
    let vanished = try shown.pixelsLost(to: picture, in: changes, isCancelled: isCancelled)
    if !framesCanClear, !vanished.isEmpty {
      // Pixels that become transparent must lie in the rectangle of the frame that is disposed of.
      before.work.rect = area.union(vanished)
      before.disposal = .background
      let canvas = try shown.cleared(in: before.work.rect, isCancelled: isCancelled)
      best = try work(picture, on: canvas)
    } else if triesBackground, !vanished.intersection(area).isEmpty {
      let canvas = try shown.cleared(in: area, isCancelled: isCancelled)
      let candidate = try work(picture, on: canvas)
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
  package mutating func finish(
    loopingTo first: Bitmap?
  ) throws(AnimatedImageError) -> Placed? {
    defer { last = nil }
    guard var placed = last, let first, !framesCanClear else { return last }
    let lost = try placed.work.picture.pixelsLost(to: first, isCancelled: isCancelled)
    if lost.isEmpty { return placed }
    let rect = placed.work.rect.union(lost)
    var fits = rect == placed.work.rect
    if !fits {
      fits = try ColorReducer.fits(
        placed.work.picture, from: placed.work.base, in: rect, isCancelled: isCancelled)
    }
    if fits {
      placed.work.rect = rect
      placed.disposal = .background
    }
    return placed
  }

  /// Returns the frame that draws `picture` on `base`. If both are equal, the frame is a single pixel that changes
  /// nothing.
  private func work(
    _ picture: Bitmap, on base: Bitmap, _ changes: PixelRect? = nil
  ) throws(AnimatedImageError) -> FrameWork {
    let rect =
      if let changes { changes } else {
        try PixelDifference.bounds(from: base, to: picture, isCancelled: isCancelled)
      }
    return FrameWork(
      picture: picture, base: base,
      rect: rect.isEmpty ? PixelRect(x: 0, y: 0, width: 1, height: 1) : rect)
  }
}

extension FrameWork {
  /// An estimate of the compressed size of the frame: the number of pixels that equal neither the pixel to the left nor
  /// the pixel above. These pixels are counted once with unchanged pixels drawn and once with unchanged pixels left
  /// out, and the lower number is used.
  ///
  /// - Throws: `cancelled` once `isCancelled` returns true.
  package func estimatedCost(
    isCancelled: () -> Bool = { false }
  ) throws(AnimatedImageError) -> Int {
    picture.format == .rgba16
      ? try estimate(UInt64.self, isCancelled) : try estimate(UInt32.self, isCancelled)
  }

  private func estimate<Word: FixedWidthInteger & BitwiseCopyable>(
    _ type: Word.Type, _ isCancelled: () -> Bool
  ) throws(AnimatedImageError) -> Int {
    guard let base else { return rect.size.area }
    let size = MemoryLayout<Word>.size
    var (drawn, left) = (0, 0)
    var above: [(Word, Word)] = Array(repeating: (0, 0), count: rect.width)
    for y in rect.y..<rect.maxY {
      try rect.poll(row: y, isCancelled)
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
