import TestRunning
import Testing
import Zoetrope
import ZoetropeTestSupport

@testable import ZoetropeWriting

/// The frames of the differ, drawn by the rules of each format.
@Suite(.timeLimit(.minutes(10)), .computes) struct FramePlacerTests {
  private typealias Pixels = [RGBA]

  private static func pixels(_ bitmap: Bitmap) -> Pixels {
    (0..<bitmap.height).flatMap { y in (0..<bitmap.width).map { bitmap[$0, y] } }
  }

  /// What a player that does not clear the canvas between plays shows after each frame of so many plays.
  private static func play(
    _ frames: [FramePlacer.Placed], framesCanClear: Bool, times: Int = 1
  ) -> [Pixels] {
    guard let size = frames.first?.work.picture.size else { return [] }
    var canvas = Pixels(repeating: .clear, count: size.area)
    return (0..<times).flatMap { _ in frames }.map { frame in
      let (before, picture) = (canvas, pixels(frame.work.picture))
      if let base = frame.work.base { #expect(pixels(base) == canvas) }
      let rect = frame.work.rect
      func forEach(_ body: (Int) -> Void) {
        for y in rect.y..<rect.maxY { for x in rect.x..<rect.maxX { body(y * size.width + x) } }
      }
      forEach { place in
        if framesCanClear || picture[place].alpha > 0 { canvas[place] = picture[place] }
      }
      let shown = canvas
      switch frame.disposal {
      case .keep: break
      case .background: forEach { canvas[$0] = .clear }
      case .previous: canvas = before
      }
      return shown
    }
  }

  private static func film(seed: UInt64) -> [Bitmap] {
    var random = SplitMix64(seed: seed)
    let (width, height) = (12, 9)
    var pixels = Pixels(repeating: seed % 2 == 0 ? .clear : .black, count: width * height)
    let background = pixels
    return (0..<8).map { step in
      if step % 3 == 2 { pixels = background }
      let (left, top) = (
        Int.random(in: 0..<width, using: &random), Int.random(in: 0..<height, using: &random)
      )
      let color =
        Int.random(in: 0..<3, using: &random) == 0
        ? RGBA.clear : RGBA(red: UInt8.random(in: 0...255, using: &random), green: 9, blue: 9)
      for y in top..<height {
        for x in left..<width where (x + y) % 3 > 0 { pixels[y * width + x] = color }
      }
      let now = pixels
      return Pictures.make(width, height) { now[$1 * width + $0] }
    }
  }

  @Test(arguments: [true, false], [true, false])
  func `frames give each picture`(framesCanClear: Bool, triesBackground: Bool) throws {
    var disposals: Set<DisposalMethod> = []
    for seed in UInt64(0)..<100 {
      let film = Self.film(seed: seed)
      var differ = FramePlacer(framesCanClear: framesCanClear, triesBackground: triesBackground)
      var placed: [FramePlacer.Placed] = []
      for picture in film {
        let changes = try differ.changes(to: picture, within: nil)
        if let frame = try differ.add(
          picture, changes: changes,
          cost: { (work) throws(AnimatedImageError) in try work.estimatedCost() })
        {
          placed.append(frame)
        }
      }
      if let frame = try differ.finish(loopingTo: film[0]) { placed.append(frame) }
      // A frame of an APNG can draw transparent pixels, and so can show the first picture again by itself.
      #expect(
        Self.play(placed, framesCanClear: framesCanClear, times: 2)
          == (film + film).map(Self.pixels), "seed \(seed)")
      if framesCanClear { #expect(placed.last?.disposal == .keep) }
      disposals.formUnion(placed.map(\.disposal))
    }
    // It is of use for some of these films.
    #expect(disposals.contains(.background) == (triesBackground || !framesCanClear))
    #expect(!disposals.contains(.previous))
  }

  @Test func `the changed box is found inside the hint, and nothing changed is empty`() throws {
    let film = Self.film(seed: 3)
    var differ = FramePlacer(framesCanClear: true, triesBackground: false)
    #expect(try differ.changes(to: film[0], within: nil) == PixelRect(film[0].size))
    _ = try differ.add(
      film[0], changes: PixelRect(film[0].size), cost: { (_) throws(AnimatedImageError) in 0 })
    #expect(try differ.changes(to: film[0], within: nil).isEmpty)
    let changed = try differ.changes(to: film[1], within: nil)
    #expect(try differ.changes(to: film[1], within: PixelRect(film[1].size)) == changed)
    #expect(changed != PixelRect(film[1].size))
  }

  @Test func `a sprite on an empty background is disposed of to the background`() throws {
    // A busy block that jumps: redrawing the hole costs more than clearing it.
    var random = SplitMix64(seed: 1)
    let noise = (0..<64).map { _ in UInt8.random(in: 0...255, using: &random) }
    let film = [0, 40].map { left in
      Pictures.make(64, 16) { x, y in
        (left..<left + 8).contains(x) && y < 8
          ? RGBA(red: noise[(x - left) + y * 8], green: 7, blue: 99) : .clear
      }
    }
    var differ = FramePlacer(framesCanClear: true, triesBackground: true)
    _ = try differ.add(
      film[0], changes: PixelRect(film[0].size), cost: { (_) throws(AnimatedImageError) in 0 })
    let first = try differ.add(
      film[1], changes: differ.changes(to: film[1], within: nil),
      cost: { (work) throws(AnimatedImageError) in try work.estimatedCost() })
    #expect(first?.disposal == .background)
    let last = try differ.finish(loopingTo: nil)
    #expect(last?.work.rect == PixelRect(x: 40, y: 0, width: 8, height: 8))
  }
}
