extension SubBlockChains {
  /// Bytes that are searched for a place to begin, and how many are passed over then.
  private static let patience = 8 << 10
  private static let leap = 56 << 10
  /// Chains that are kept of a piece, 256 KiB of memory. Where frames are so small that there are more,
  /// the rest is left to the scanner.
  static let mostChains = 1 << 13

  /// Follows the chains in a piece of a GIF that may begin anywhere.
  ///
  /// It begins where sub-blocks of 254 or 255 bytes follow one another or a graphic control lies, goes
  /// on from the end of a frame to the data of the next one, and begins anew where that leads nowhere.
  ///
  /// - Complexity: Linear. Of frames only the lengths and what lies between two are read. Extensions may
  ///   be walked over from several places; made-up ones would be walked to the end of the piece from each,
  ///   so when as many as a sixteenth of the bytes have been read for them, the rest is not looked at.
  package init(in bytes: borrowing RawSpan) {
    var chains: [SubBlockChain] = []
    var stepsLeft = bytes.byteCount / 16
    var next = Self.start(in: bytes, from: 0, &stepsLeft)
    var gap: Int?
    while let start = next, start < bytes.byteCount, chains.count < Self.mostChains {
      let chain = SubBlockChain(in: bytes, from: start, gap: gap)
      chains.append(chain)
      next = chain.isTerminated ? bytes.imageData(behindBlocksAt: chain.end, &stepsLeft) : nil
      // Most frames have palettes of one size, and controls or none.
      gap = next.map { $0 - chain.end }
      next = next ?? Self.start(in: bytes, from: chain.end, &stepsLeft)
    }
    self.init(chains)
  }

  /// The next place from `position` on where a chain is likely to begin.
  private static func start(
    in bytes: borrowing RawSpan, from position: Int, _ stepsLeft: inout Int
  ) -> Int? {
    var position = position
    var patience = patience
    while position < bytes.byteCount, stepsLeft > 0 {
      if let start = bytes.startOfEvenBlocks(from: position) { return start }
      if let control = bytes.graphicControl(from: position),
        let start = bytes.imageData(behindBlocksAt: control, &stepsLeft)
      {
        return start
      }
      position += 256
      patience -= 256
      if patience == 0 {
        position += leap
        patience = Self.patience
      }
    }
    return nil
  }
}

extension RawSpan {
  /// The first of 256 places from `offset` on where eight sub-blocks of 255 bytes follow one another, or
  /// eight of 254: these sizes encoders use. By chance such a byte hardly ever stands eight times at that
  /// distance.
  fileprivate func startOfEvenBlocks(from offset: Int) -> Int? {
    guard offset <= byteCount - 8 * 256 else { return nil }
    for place in stride(from: offset, to: offset + 256, by: 32) {
      // Any bit pattern is a number; the load checks its bounds.
      let bytes = unsafe unsafeLoadUnaligned(fromByteOffset: place, as: SIMD4<UInt64>.self)
      let words = bytes | 0x0101_0101_0101_0101
      // The high bit of each byte that is 254 or 255.
      let found = (~words &- 0x0101_0101_0101_0101) & words & 0x8080_8080_8080_8080
      guard found[0] | found[1] | found[2] | found[3] != 0 else { continue }
      for index in 0..<4 {
        var bits = UInt64(littleEndian: found[index])
        while bits != 0 {
          let start = place + index * 8 + bits.trailingZeroBitCount / 8
          let size = self[start]
          // The next length first: it lies in what would be looked at next.
          if self[start + 1 + Int(size)] == size, hasEvenBlocks(ofSize: size, at: start) {
            return start
          }
          bits &= bits - 1
        }
      }
    }
    return nil
  }

  /// The first of 256 places from `offset` on where a graphic control seems to lie.
  fileprivate func graphicControl(from offset: Int) -> Int? {
    for place in offset..<offset + 256 where hasPlainControl(at: place) { return place }
    return nil
  }

  /// Where the data of the next image begin, when extensions and an image descriptor lie at `offset`. It
  /// may be behind the end.
  ///
  /// - Parameter stepsLeft: Extensions and their sub-blocks that may be walked over. 0 when they were too
  ///   many.
  fileprivate func imageData(behindBlocksAt offset: Int, _ stepsLeft: inout Int) -> Int? {
    var offset = offset
    while offset < byteCount - 1 - GIFImageDescriptor.size, stepsLeft > 0 {
      switch self[offset] {
      case 0x21:
        // Small ones, not worth a look at eight places.
        offset += 2
        stepsLeft -= 1
        while offset < byteCount, self[offset] != 0, stepsLeft > 0 {
          offset += 1 + Int(self[offset])
          stepsLeft -= 1
        }
        offset += 1
      case 0x2c:
        let descriptor = GIFImageDescriptor(self, at: offset + 1)
        // Behind the palette, the size of a code.
        return offset + 1 + GIFImageDescriptor.size + descriptor.paletteCount * 3 + 1
      default: return nil
      }
    }
    return nil
  }
}
