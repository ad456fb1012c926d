extension FramePixels {
  /// Notes as damage, if there is none yet, that some index lies past a palette of `count` colours.
  ///
  /// - Parameter bound: No index reaches it, however the data is damaged.
  func noteIndices(past count: Int, below bound: Int = 256, in control: FrameControl) {
    guard damage == nil, layout == .indexed8, count < bound,
      let row = firstRow(withIndexFrom: count)
    else { return }
    damage = Damage(
      .pixelIndex, "a pixel in row \(row) has an index past the \(count) colours",
      frameIndex: control.index, byteOffset: control.byteRange.lowerBound)
  }

  /// The first stored row with an index of at least `limit`.
  ///
  /// Unsafe: reads the valid rows, `width` bytes each, which lie within the storage, and what lies
  /// between two of them.
  private func firstRow(withIndexFrom limit: Int) -> Int? {
    let rows = validPixels / max(width, 1)
    guard rows > 0, width > 0 else { return nil }
    let base = unsafe UnsafeRawPointer(storage.baseAddress) + offset
    // All rows at once, with the filter bytes between them: where those reach the limit as well, the
    // rows alone decide.
    let isBelow = unsafe Self.maximum(base, count: (rows - 1) * bytesPerRow + width) < limit
    if isBelow { return nil }
    return (0..<rows).first { row in
      unsafe Self.maximum(base + row * bytesPerRow, count: width) >= limit
    }
  }

  /// The greatest of `count` bytes.
  ///
  /// In vectors of 16, since those of 64 are taken apart lane by lane. The last ones overlap those before
  /// them, and so end at the last byte.
  @unsafe private static func maximum(_ bytes: UnsafeRawPointer, count: Int) -> Int {
    typealias Block = SIMD16<UInt8>
    @inline(__always) func larger(_ a: Block, _ b: Block) -> Block {
      a.replacing(with: b, where: a .< b)
    }
    @inline(__always) func block(_ at: Int) -> Block {
      unsafe bytes.loadUnaligned(fromByteOffset: at, as: Block.self)
    }
    guard count >= 16 else {
      return Int(
        (0..<count).reduce(0) { unsafe max($0, bytes.load(fromByteOffset: $1, as: UInt8.self)) })
    }
    var (a, b) = (block(0), block(count - 16))
    var (c, d) = (a, b)
    var position = 0
    while position &+ 64 <= count {
      a = larger(a, block(position))
      b = larger(b, block(position &+ 16))
      c = larger(c, block(position &+ 32))
      d = larger(d, block(position &+ 48))
      position &+= 64
    }
    while position &+ 16 <= count {
      a = larger(a, block(position))
      position &+= 16
    }
    return Int(larger(larger(a, b), larger(c, d)).max())
  }
}
