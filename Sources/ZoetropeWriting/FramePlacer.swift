/// Decides what each frame of a file draws, and how it is disposed of. All formats share it.
///
/// A frame is placed once the next one is known, because its disposal is chosen to make the next one as cheap as
/// possible. Whether unchanged pixels inside the rectangle are drawn again is left to the encoder.
package struct FramePlacer: Sendable {
  /// A frame whose place in the file is decided.
  package struct Placed: Sendable {
    package var work: FrameWork
    package var disposal = DisposalMethod.keep
  }

  /// Whether a frame can make pixels transparent by itself, as in APNG; in GIF only the previous frame's disposal
  /// can.
  private let framesCanClear: Bool
  /// Whether *background* is tried to save bytes. *Previous* never is: Pillow draws frames after it wrong, as do some
  /// readers of GIF.
  private let triesBackground: Bool
  /// The frame that waits for the next one.
  package private(set) var last: Placed?

  package init(framesCanClear: Bool, triesBackground: Bool) {
    self.framesCanClear = framesCanClear
    self.triesBackground = triesBackground
  }

  /// Where `picture` differs from the last frame; empty if nowhere, the whole canvas for the first frame.
  ///
  /// - Parameter hint: Where it may differ. Debug builds check it.
  package func changes(to picture: Bitmap, within hint: PixelRect?) -> PixelRect {
    guard let last = last?.work.picture else { return PixelRect(picture.size) }
    let changes = PixelDifference.bounds(from: last, to: picture, within: hint)
    assert(
      hint == nil || changes.union(PixelDifference.bounds(from: last, to: picture)) == changes,
      "a frame differs outside the rectangle that was said to have changed")
    return changes
  }

  /// What `picture` is drawn on, unless the disposal of the last frame is chosen to save bytes; nil for the first frame.
  ///
  /// - Parameter hint: Where it may differ from the last frame.
  package func canvas(
    for picture: Bitmap, within hint: PixelRect?
  ) throws(AnimatedImageError) -> Bitmap? {
    guard let last else { return nil }
    let shown = last.work.picture
    guard !framesCanClear else { return shown }
    let vanished = shown.pixelsLost(to: picture, in: hint)
    return vanished.isEmpty ? shown : try shown.cleared(in: last.work.rect.union(vanished))
  }

  /// Takes the next frame, which differs from the last one in `changes`; returns the last one, placed.
  ///
  /// - Parameter cost: What encoding a frame costs, in any unit.
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
      // Pixels that become transparent must lie in the frame that is disposed of.
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

  /// The last frame, placed.
  package mutating func finish() -> Placed? {
    defer { last = nil }
    return last
  }

  /// The frame that draws `picture` on `base`; if they are equal, one pixel that changes nothing.
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
  /// An estimate of the frame's size: the number of pixels predicted by neither the pixel to the left nor the one
  /// above, with unchanged pixels either drawn or left out, whichever gives less.
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
