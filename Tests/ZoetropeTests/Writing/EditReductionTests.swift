import TestRunning
import Testing
import Zoetrope

@testable import ZoetropeCodec
@testable import ZoetropeCore
@testable import ZoetropeFrames
@testable import ZoetropeTestSupport
@testable import ZoetropeWriting

/// Edits of GIFs in which a new frame among copied ones has more than 256 colours.
@Suite(.timeLimit(.minutes(10)), .computes) struct EditReductionTests {
  private static let side = 24

  /// Two hundred colours, which have nothing in common with those of another `blue`.
  private static func palette(_ blue: UInt8) -> GIFPalette {
    GIFPalette((0..<200).map { RGBA(red: UInt8($0), green: UInt8(255 - $0), blue: blue) })
  }

  /// Seven frames. The first two have 400 colours together, and the others change parts of their pixels.
  ///
  /// - Parameter disposal: The disposal of the second frame.
  private static func film(disposal: UInt8 = 1) -> [UInt8] {
    let patches: [(rect: PixelRect, disposal: UInt8, blue: UInt8)] = [
      (PixelRect(x: 0, y: 0, width: side, height: 12), 1, 0),
      (PixelRect(x: 0, y: 12, width: side, height: 12), disposal, 120),
      (PixelRect(x: 2, y: 2, width: 6, height: 6), 1, 250),
      (PixelRect(x: 10, y: 10, width: 5, height: 5), 3, 200),
      (PixelRect(x: 12, y: 4, width: 6, height: 6), 2, 60),
      (PixelRect(x: 0, y: 8, width: 20, height: 2), 1, 0),
      (PixelRect(x: 20, y: 20, width: 3, height: 3), 1, 250),
    ]
    var gif = GIFBuilder()
    gif.signature()
    gif.screen(width: side, height: side)
    for patch in patches {
      gif.graphicControl(GIFGraphicControl(delay: 5, disposal: patch.disposal))
      let indices = (0..<patch.rect.size.area).map { UInt8($0 % 200) }
      gif.frame(GIFFrame(rect: patch.rect, indices: indices, palette: palette(patch.blue)))
    }
    gif.trailer()
    return gif.bytes
  }

  /// The pixels of each picture.
  private static func pictures(_ bytes: [UInt8]) throws -> [[UInt32]] {
    let image = try AnimatedImage(bytes: bytes)
    #expect(image.damage.isEmpty)
    let reader = FrameReader(image)
    return try image.frames.indices.map { index in
      let picture = try reader.frame(at: index).bitmap
      return (0..<picture.height).flatMap { y in
        let row = picture.row(y)
        return (0..<picture.width).map { row.load(UInt32.self, at: $0 * 4) }
      }
    }
  }

  private static func write(
    _ film: [UInt8], _ edits: [AnimationEdit], _ options: EditOptions = .init()
  ) throws -> (plan: EditPlan, bytes: [UInt8], written: WrittenAnimation) {
    let plan = try EditPlan(try AnimatedImage(bytes: film), edits, options)
    let sink = MemorySink()
    let written = try plan.write(to: sink)
    return (plan, sink.bytes, written)
  }

  @Test func `after a cut, only the first picture is reduced, and the others are copied`() throws {
    let film = Self.film()
    let image = try AnimatedImage(bytes: film)
    let (plan, bytes, written) = try Self.write(film, [.frames(1..<7)])
    #expect(plan.reducesColors && plan.reducedCount == 1)
    #expect(plan.frames.map(\.reducesColors) == [true] + [Bool](repeating: false, count: 5))
    #expect(plan.copiedCount == 5 && plan.encodedCount == 1)
    #expect(written.copiedCount == 5 && written.reducedCount == 1 && written.colorLimit == nil)
    let words = "frame 0: frame 1, encoded in fewer colours, since the canvas before it differs"
    #expect("\(plan)".contains(words))
    let output = try AnimatedImage(bytes: bytes)
    for (frame, planned) in zip(output.frames, plan.frames).dropFirst() {
      guard case .copied(let range) = planned.action else {
        Issue.record("frame \(frame.index) is not copied")
        continue
      }
      #expect(range == image.frames[planned.source].byteRange)
      #expect(bytes[frame.byteRange] == film[range])
    }
    let (shown, wanted) = (try Self.pictures(bytes), Array(try Self.pictures(film).dropFirst()))
    #expect(Set(wanted[0]).count == 400 && Set(shown[0]).count < 256)
    #expect(Self.error(shown[0], wanted[0]) < 9)
    // Whether a copied frame has drawn or cleared a pixel.
    var isExact = [Bool](repeating: false, count: Self.side * Self.side)
    for place in 1..<6 {
      let frame = image.frames[place + 1]
      var isDrawn = isExact
      for y in frame.rect.y..<frame.rect.maxY {
        for x in frame.rect.x..<frame.rect.maxX { isDrawn[y * Self.side + x] = true }
      }
      let expected = isDrawn.indices.map { isDrawn[$0] ? wanted[place][$0] : shown[0][$0] }
      #expect(shown[place] == expected, "picture \(place)")
      if frame.disposal != .previous { isExact = isDrawn }
    }
  }

  /// The mean difference of the samples of opaque pixels.
  private static func error(_ one: [UInt32], _ other: [UInt32]) -> Double {
    var sum = 0
    for (first, second) in zip(one, other) {
      let (left, right) = (RGBA(word: first), RGBA(word: second))
      sum += abs(Int(left.red) - Int(right.red)) + abs(Int(left.green) - Int(right.green))
      sum += abs(Int(left.blue) - Int(right.blue))
    }
    return Double(sum) / Double(3 * one.count)
  }

  @Test(
    arguments: [UInt8(1), 2, 3],
    [AnimationEdit.frames(1..<7), .frames(at: [1, 2, 1, 2, 3, 4, 5, 6])])
  func `every pixel has its own colour, or one that it was reduced to`(
    disposal: UInt8, edit: AnimationEdit
  ) throws {
    let film = Self.film(disposal: disposal)
    let source = try Self.pictures(film)
    for effort in [EncodingEffort.fast, .balanced, .small] {
      for dithering in Dithering.all {
        let (plan, bytes, written) = try Self.write(
          film, [edit], EditOptions(dithering: dithering, effort: effort))
        #expect(plan.rewriting == nil && written.reducedCount >= 1)
        #expect(written.copiedCount >= written.reducedCount)
        let shown = try Self.pictures(bytes)
        let wanted = plan.frames.map { source[$0.source] }
        try #require(shown.count == wanted.count)
        let isReduced = plan.frames.map(\.reducesColors)
        for place in shown.indices {
          let strange = shown[place].indices.count { pixel in
            let (now, own) = (shown[place][pixel], wanted[place][pixel])
            if (now >> 24 == 0) != (own >> 24 == 0) { return true }
            // Transparent pixels have no colour.
            if now >> 24 == 0 || now == own { return false }
            return !(0...place).contains {
              isReduced[$0] && shown[$0][pixel] == now && wanted[$0][pixel] == own
            }
          }
          #expect(strange == 0, "\(effort), \(dithering), picture \(place) of \(plan)")
        }
      }
    }
  }

  @Test func `exact colours are refused, and the error names the frame`() throws {
    let image = try AnimatedImage(bytes: Self.film())
    let error = #expect(throws: AnimatedImageError.self) {
      try EditPlan(image, [.frames(1..<7)], EditOptions(colors: .exact))
    }
    #expect(error?.code == .unwritable && error?.frameIndex == 1)
  }

  @Test func `where little or nothing can be copied, all pictures share palettes`() throws {
    let image = try AnimatedImage(bytes: Self.film())
    let part = PixelRect(x: 0, y: 2, width: Self.side, height: 20)
    let cut = AnimationEdit.frames(1..<7)
    for (edits, colors, reason) in [
      ([.frames(1..<2)], .automatic, .pixelFormat),
      ([cut, .crop(part)], .automatic, .pixelFormat),
      ([cut], .limited(to: 64), .colors),
    ] as [([AnimationEdit], ColorPolicy, EditPlan.Reason)] {
      let plan = try EditPlan(image, edits, EditOptions(colors: colors))
      #expect(plan.rewriting?.reason == reason && plan.copiedCount == 0, "\(edits)")
      #expect(plan.reducesColors && plan.reducedCount == 0)
    }
  }

  @Test func `films that need no reduction are copied as before`() throws {
    let (plan, bytes, written) = try Self.write(Self.film(), [.frames(0..<5)])
    #expect(plan.isCopy && !plan.reducesColors && written.reducedCount == 0)
    #expect(try Self.pictures(bytes) == Array(Self.pictures(Self.film()).prefix(5)))
  }
}
