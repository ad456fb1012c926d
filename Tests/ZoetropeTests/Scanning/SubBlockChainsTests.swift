import TestRunning
import Testing
import ZoetropeTestSupport

@testable import Zoetrope
@testable import ZoetropeCodec
@testable import ZoetropeCore

/// What a thread finds of a GIF ahead of its scanner: where chains of sub-blocks lead.
@Suite(.timeLimit(.minutes(1)), .computes) struct SubBlockChainsTests {
  /// Frames of `size` bytes of data each; every third has no graphic control, every second a palette.
  private func film(
    frames count: Int, blockSize: Int = 255, dataSize size: (Int) -> Int
  ) -> [UInt8] {
    var random = SplitMix64(seed: 3)
    var gif = GIFBuilder()
    gif.signature()
    gif.screen(width: 9, height: 9, palette: GIFPalette([.black, RGBA(red: 9, green: 9, blue: 9)]))
    for index in 0..<count {
      if index % 3 > 0 { gif.graphicControl(GIFGraphicControl(delay: UInt16(index % 100))) }
      gif.raw([0x2c, 0, 0, 0, 0, 9, 0, 9, 0, index % 2 == 0 ? 0 : 0x82])
      if index % 2 == 1 { gif.raw([UInt8](repeating: UInt8(index % 256), count: 24)) }
      gif.raw([2])
      gif.raw(
        GIFBuilder.subBlocks(
          (0..<size(index)).map { _ in UInt8(truncatingIfNeeded: random.next()) },
          blockSize: blockSize))
      gif.raw([0])
    }
    gif.trailer()
    return gif.bytes
  }

  private func chains(in bytes: [UInt8]) -> [SubBlockChain] {
    unsafe SubBlockChains(in: bytes.span.bytes).chains
  }

  /// Where going from length to length leads from `start`, one by one.
  private func walk(_ bytes: [UInt8], from start: Int) -> (end: Int, isTerminated: Bool) {
    var place = start
    while place < bytes.count {
      if bytes[place] == 0 { return (place + 1, true) }
      place += 1 + Int(bytes[place])
    }
    return (place, false)
  }

  private func scan(
    _ bytes: [UInt8], isForeseen: Bool, pieces: () -> Int
  ) -> Result<ScannedImage, AnimatedImageError> {
    Result { () throws(AnimatedImageError) in
      var scanner = GIFScanner()
      var position = 0
      while position < bytes.count {
        let piece = Array(bytes[position..<min(position + pieces(), bytes.count)])
        let ahead = unsafe GIFScanner.lookAhead(in: piece.span.bytes)
        try unsafe scanner.feed(
          piece.span.bytes, knowing: isForeseen ? ahead : SubBlockChains())
        position += piece.count
      }
      try scanner.finish()
      return scanner.image
    }
  }

  @Test(arguments: 0..<60 as Range<UInt64>)
  func `a chain leads where its lengths lead, wherever it begins`(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    let size: UInt8 = [255, 254, 64, 63, 100][Int(seed % 5)]
    let bytes = (0..<6000).map { _ in
      Int.random(in: 0..<8, using: &random) < 6 - Int(seed % 6)
        ? size : UInt8.random(in: 0...255, using: &random)
    }
    for start in stride(from: 0, to: 6200, by: 37) {
      let chain = unsafe SubBlockChain(in: bytes.span.bytes, from: start)
      let (end, isTerminated) = walk(bytes, from: start)
      #expect(chain.end == end && chain.isTerminated == isTerminated, "from \(start)")
      for place in start...start + 1024 where chain.leads(from: place) {
        #expect(walk(bytes, from: place) == (end, isTerminated), "from \(place)")
      }
      // A guess where the next one begins changes nothing, however wrong.
      for gap in [0, 40, 5000, .max / 2, -7000, .min / 2] {
        let other = unsafe SubBlockChain(in: bytes.span.bytes, from: start, gap: gap)
        #expect(other == chain, "from \(start)")
      }
    }
  }

  @Test func `a chain is known from its start and from each sub-block of the size it begins with`()
  {
    var bytes = [UInt8](repeating: 7, count: 1200)
    for place in [100, 356, 612] { bytes[place] = 255 }
    (bytes[868], bytes[876], bytes[884]) = (7, 7, 0)
    let chain = unsafe SubBlockChain(in: bytes.span.bytes, from: 100)
    #expect(chain.size == 255 && chain.evenEnd == 868 && chain.end == 885 && chain.isTerminated)
    #expect((0...1200).filter { chain.leads(from: $0) } == [100, 356, 612, 868])
  }

  @Test(arguments: [63, 64, 200, 254] as [UInt8])
  func `sub-blocks of one size from 64 bytes on are known by their size`(size: UInt8) {
    let stride = 1 + Int(size)
    for count in [1, 2, 8, 9, 20] {
      // As many of that size, one shorter, the terminator, and the same without an end.
      var bytes = [UInt8](repeating: size, count: count * stride) + [2, 9, 9, 0]
      var chain = unsafe SubBlockChain(in: bytes.span.bytes, from: 0)
      #expect(chain.end == bytes.count && chain.isTerminated)
      #expect(chain.size == size && chain.evenEnd == (size < 64 || count < 2 ? 0 : count * stride))
      #expect(
        (0..<bytes.count).filter { chain.leads(from: $0) }
          == (chain.evenEnd == 0 ? [0] : (0...count).map { $0 * stride }))
      bytes.removeLast(5)
      chain = unsafe SubBlockChain(in: bytes.span.bytes, from: 0)
      #expect(chain.end == count * stride && !chain.isTerminated)
      #expect(chain.evenEnd == (size < 64 || count < 2 ? 0 : count * stride))
    }
  }

  @Test(arguments: [255, 254])
  func `the data of every frame are found from the third on that ends in a piece`(
    blockSize: Int
  ) throws {
    let film = film(frames: 40, blockSize: blockSize) { [5000, 700, 12, 9000, 2040, 255][$0 % 6] }
    var scanner = GIFScanner()
    try unsafe scanner.feed(film.span.bytes)
    let ends = scanner.image.frames.map { $0.byteRange.upperBound }
    for cut in [0, 1, 777, 4000, 5100, 6000, 20_000, 60_000] {
      let found = chains(in: Array(film[cut...])).filter(\.isTerminated).map { $0.end + cut }
      // A piece may begin in the middle of a frame without a control: that one may be missed.
      let expected = ends.filter { $0 > cut }.dropFirst(2)
      #expect(Set(expected).isSubset(of: found), "cut at \(cut)")
      #expect(found.count <= expected.count + 2, "cut at \(cut)")
    }
  }

  @Test(arguments: 0..<40 as Range<UInt64>)
  func `a scanner finds the same of a damaged film, whatever was found ahead of it`(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    let sizes = [5000, 700, 12, 9000, 2040, 255, 0].shuffled(using: &random)
    let blockSize = [255, 254, 100, 20].randomElement(using: &random) ?? 255
    var film = film(frames: 30, blockSize: blockSize) { sizes[$0 % sizes.count] }
    if seed % 4 > 0 {
      for _ in 0..<Int(seed) {
        let place = Int.random(in: 13..<film.count, using: &random)
        film[place] = [0, 255, 0x21, 0x2c, 1].randomElement(using: &random) ?? 0
      }
    }
    let whole = scan(film, isForeseen: false) { film.count }
    #expect(scan(film, isForeseen: true) { film.count } == whole)
    for most in [300, 3000, 30_000] {
      #expect(scan(film, isForeseen: true) { Int.random(in: 1...most, using: &random) } == whole)
    }
  }

  @Test(arguments: FixtureTests.recipes)
  func `every fixture scans alike, whatever was found ahead`(recipe: Recipe) {
    let bytes = recipe.bytes
    let whole = scan(bytes, isForeseen: false) { bytes.count }
    for size in [bytes.count, 4096, 100] {
      #expect(scan(bytes, isForeseen: true) { size } == whole, "pieces of \(size)")
    }
  }

  @Test func `of a piece of very small frames the first ones are found`() throws {
    let tiny = film(frames: 50_000) { _ in 1 }
    let found = chains(in: tiny)
    #expect(found.count == SubBlockChains.mostChains)
    #expect(
      scan(tiny, isForeseen: true) { tiny.count } == scan(tiny, isForeseen: false) { tiny.count })
  }

  @Test func `where nothing can be made out, most is passed over`() {
    var bytes = [UInt8](repeating: 7, count: 200_000)
    let control: [UInt8] = [
      0x21, 0xf9, 4, 0, 0, 0, 0, 0, 0x2c, 0, 0, 0, 0, 9, 0, 9, 0, 0, 2, 1, 9, 0,
    ]
    for place in [9000, 70_000] {
      bytes.replaceSubrange(place..<place + control.count, with: control)
    }
    // The first lies in the 56 KiB behind the 8 KiB that were searched.
    #expect(chains(in: bytes).map(\.start) == [70_019])
  }

  /// Chains of other bytes, as of a file that somebody writes to between the look and the scan.
  @Test(arguments: 0..<40 as Range<UInt64>)
  func `chains that are not of these bytes give frames that lie in the file all the same`(
    seed: UInt64
  ) throws {
    var random = SplitMix64(seed: seed)
    let film = film(frames: 30) { [5000, 700, 12, 9000][$0 % 4] }
    let other = self.film(frames: 30) { [5000, 701, 12, 2040][($0 + Int(seed)) % 4] }
    var scanner = GIFScanner()
    var position = 0
    while position < film.count {
      let end = min(position + Int.random(in: 1...20_000, using: &random), film.count)
      let piece = Array(film[position..<end])
      let wrong = Array(other[min(position, other.count)..<min(end, other.count)])
      try unsafe scanner.feed(
        piece.span.bytes, knowing: GIFScanner.lookAhead(in: wrong.span.bytes))
      position = end
    }
    try scanner.finish()
    #expect(scanner.image.byteCount <= film.count)
    var last = 0
    for frame in scanner.image.frames {
      let range = frame.byteRange
      #expect(range.lowerBound >= last && range.upperBound <= film.count)
      last = range.upperBound
    }
  }

  /// Walked from every place that seems to begin an extension to the end of the piece, these take minutes.
  @Test(arguments: [[0x21, 0x42, 0], [0x21, 0x42, 1, 7, 0]] as [[UInt8]])
  func `extensions that lead nowhere are not walked from every place`(filler: [UInt8]) {
    let decoy: [UInt8] = [0x21, 0x42, 11, 0x21, 0xf9, 4, 1, 2, 3, 4, 0, 0x21, 0x42, 3, 0]
    var bytes: [UInt8] = []
    while bytes.count < 16 << 20 {
      for _ in 0..<50 { bytes += filler }
      bytes += decoy
    }
    #expect(chains(in: bytes) == [])
  }
}
