import TestRunning
import Testing
import Zoetrope
import ZoetropeTestSupport

@testable import ZoetropeCodec
@testable import ZoetropeCore
@testable import ZoetropeFrames

@Suite(.timeLimit(.minutes(10)), .computes) struct CanvasTests {
  /// Large enough for its blocks to be handed on, and of a size that no other test has.
  private static let size = PixelSize(width: 133, height: 131)

  /// A bitmap with these pixels, rows as far apart as in bitmaps.
  private static func bitmap(_ words: [UInt32]) -> Bitmap {
    var buffer = PixelBuffer(size: size)
    var bytes = buffer.mutableBytes
    for place in words.indices {
      bytes.storeBytes(of: words[place], toByteOffset: place * 4, as: UInt32.self)
    }
    return buffer.finish()
  }

  private static func rect(_ random: inout SplitMix64) -> PixelRect {
    if Int.random(in: 0..<8, using: &random) == 0 { return PixelRect(size) }
    let x = Int.random(in: 0..<size.width, using: &random)
    let y = Int.random(in: 0..<size.height, using: &random)
    return PixelRect(
      x: x, y: y, width: Int.random(in: 0...min(size.width - x, 40), using: &random),
      height: Int.random(in: 0...min(size.height - y, 40), using: &random))
  }

  @Test func `a canvas that runs out of numbers begins a new one, of which nothing is known`() {
    let first = PictureStamp(word: (7 << 24) | 0xff_fffd)
    var history = CanvasHistory(from: first)
    history.advance()
    history.note(PixelRect(x: 3, y: 4, width: 5, height: 6))
    history.advance()
    #expect(history.changes(since: first) == [PixelRect(x: 3, y: 4, width: 5, height: 6)])
    let last = history.stamp
    #expect(last.canvas == 7)
    history.advance()
    #expect(history.stamp.canvas != 7)
    #expect(history.changes(since: first) == nil)
    #expect(history.changes(since: last) == nil)
  }

  @Test(arguments: [0, 1, 2, 3, 5, 12])
  func `pictures that are held never change, and new ones build on the last`(held: Int) throws {
    var random = SplitMix64(seed: UInt64(held) + 1)
    var canvas = try Canvas(size: Self.size, format: .rgba8)
    let rowWords = canvas.bytesPerRow / 4
    let clear = [UInt32](repeating: 0, count: rowWords * Self.size.height)
    let sources = (0..<3).map { _ in
      let words = clear.map { _ in UInt32(truncatingIfNeeded: random.next()) }
      return (words: words, bitmap: Self.bitmap(words))
    }
    var model = clear
    var pictures: [(bitmap: Bitmap, expected: Bitmap)] = []
    for round in 0..<60 {
      for _ in 0..<Int.random(in: 0...2, using: &random) {
        let rect = Self.rect(&random)
        let source = Bool.random(using: &random) ? nil : sources[round % 3]
        if let source {
          try canvas.restore(Canvas(source.bitmap).copy(rect))
        } else {
          try canvas.clear(rect)
        }
        for y in rect.y..<rect.maxY {
          let row = y * rowWords + rect.x..<y * rowWords + rect.maxX
          model.replaceSubrange(row, with: (source?.words ?? clear)[row])
        }
      }
      pictures.append((canvas.bitmap, Self.bitmap(model)))
      while pictures.count > held {
        // Dropped in any order: a consumer may keep one for long.
        let place = Int.random(in: 0..<pictures.count, using: &random)
        let (bitmap, expected) = pictures.remove(at: place)
        #expect(bitmap == expected, "round \(round)")
      }
    }
    for (bitmap, expected) in pictures { #expect(bitmap == expected) }
    #expect(canvas.bitmap == Self.bitmap(model))
  }

  @Test func `a block catches up by what was changed since it was handed out`() {
    var history = CanvasHistory()
    let first = history.stamp
    history.note(PixelRect(x: 90, y: 0, width: 9, height: 9))
    history.advance()
    history.note(PixelRect(x: 0, y: 0, width: 2, height: 2))
    history.note(PixelRect(x: 4, y: 4, width: 1, height: 1))
    let second = history.stamp
    #expect(history.changes(since: first)?.isEmpty == true)
    history.advance()
    let near = PixelRect(x: 0, y: 0, width: 2, height: 2)
    let far = PixelRect(x: 4, y: 4, width: 1, height: 1)
    #expect(history.changes(since: first) == [near, far])
    #expect(history.changes(since: second)?.isEmpty == true)
    // The picture being drawn was not handed out, and other canvases have pictures of their own.
    #expect(history.changes(since: history.stamp) == nil)
    #expect(CanvasHistory().changes(since: first) == nil)
    #expect(history.changes(since: PictureStamp()) == nil)
    for _ in 0..<20 { history.advance() }
    #expect(history.changes(since: first) == nil)
  }

  // Under the address sanitizer every block is new.
  @Test(.enabled(if: PixelMemory.minimumByteCount < .max))
  func `a large canvas is drawn on a few blocks again and again, which go with it`() throws {
    // One block alone is more than what waits for other animations may take.
    let size = PixelSize(width: 1031, height: 9001)
    let cost = PixelFormat.rgba8.cost(of: size)
    var random = SplitMix64(seed: 7)
    var blocks: Set<UInt> = []
    do {
      var canvas = try Canvas(size: size, format: .rgba8)
      var held: [Bitmap] = []
      for round in 0..<100 {
        let rect = PixelRect(
          x: Int.random(in: 0..<1000, using: &random), y: Int.random(in: 0..<9000, using: &random),
          width: 9, height: 1)
        try canvas.clear(rect)
        held.append(canvas.bitmap)
        blocks.insert(unsafe UInt(bitPattern: canvas.bitmap.storage.baseAddress))
        // A player decodes two frames and then lets go of two.
        if held.count > 4 { held.removeFirst(2) }
        // Nothing waits while nobody plays.
        if round == 50 {
          canvas.rest()
          #expect(PixelMemory.blockCount(of: cost) == held.count)
        }
      }
      // After the rest there may be as many new ones.
      #expect(blocks.count <= 10)
    }
    #expect(PixelMemory.blockCount(of: cost) == 0)
  }

  /// Whether all bytes between the rows are zero.
  private static func hasClearPadding(_ bitmap: Bitmap) -> Bool {
    let drawn = bitmap.width * bitmap.format.bytesPerPixel
    let bytes = bitmap.bytes
    for y in 0..<bitmap.height {
      let end = (y + 1) * bitmap.bytesPerRow
      for place in end - bitmap.bytesPerRow + drawn..<end where bytes[place] != 0 { return false }
    }
    return true
  }

  /// Leaves blocks of `byteCount` bytes, all of them 0xEE, for the next allocation.
  private static func leaveMarkedBlocks(_ byteCount: Int) throws {
    let blocks = try (0..<4).map { _ in try PixelStorage(asking: byteCount) }
    for block in blocks {
      unsafe block.baseAddress.initializeMemory(as: UInt8.self, repeating: 0xee, count: byteCount)
    }
  }

  @Test func `the padding between rows never holds bytes of another picture`() throws {
    var canvas = try Canvas(size: Self.size, format: .rgba8)
    let byteCount = canvas.bitmap.byteCount
    var held: [Bitmap] = []
    for round in 0..<6 {
      held.append(canvas.bitmap)
      try Self.leaveMarkedBlocks(byteCount)
      // Every pixel is about to be drawn, so nothing of the last picture is copied.
      try canvas.makeUnique(changing: canvas.bounds, keepsContent: round % 2 == 1)
    }
    held.append(canvas.bitmap)
    for bitmap in held { #expect(Self.hasClearPadding(bitmap)) }
    for format in [PixelFormat.bgra8, .rgb565, .gray8] {
      let count = PixelBuffer(size: Self.size, format: format).finish().byteCount
      try Self.leaveMarkedBlocks(count)
      #expect(try Self.hasClearPadding(canvas.bitmap.converted(to: format)))
    }
  }
}
