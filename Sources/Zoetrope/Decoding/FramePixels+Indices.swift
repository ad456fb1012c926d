extension FramePixels {
  /// Notes as damage, if there is none yet, that some index lies past a palette of `count` colours.
  ///
  /// Looks at 64 indices at a time; asked only where the palette is smaller than the indices allow.
  func noteIndices(past count: Int, in control: FrameControl) {
    guard damage == nil, layout == .indexed8, count < 256, let row = firstRow(withIndexFrom: count)
    else { return }
    damage = Damage(
      .pixelIndex, "a pixel in row \(row) has an index past the \(count) colours",
      frameIndex: control.index, byteOffset: control.byteRange.lowerBound)
  }

  /// The first stored row with an index of at least `limit`.
  ///
  /// Unsafe: reads the valid rows, `width` bytes each, which lie within the storage.
  private func firstRow(withIndexFrom limit: Int) -> Int? {
    let base = unsafe UnsafeRawPointer(storage.baseAddress) + offset
    let rows = validPixels / max(width, 1)
    return (0..<rows).first { row in
      unsafe Self.maximum(base + row * bytesPerRow, count: width) >= limit
    }
  }

  @unsafe private static func maximum(_ bytes: UnsafeRawPointer, count: Int) -> Int {
    var lanes = SIMD64<UInt8>(repeating: 0)
    var position = 0
    while position + 64 <= count {
      let next = unsafe bytes.loadUnaligned(fromByteOffset: position, as: SIMD64<UInt8>.self)
      lanes.replace(with: next, where: next .> lanes)
      position += 64
    }
    var result = lanes.max()
    while position < count {
      result = unsafe max(result, bytes.load(fromByteOffset: position, as: UInt8.self))
      position += 1
    }
    return Int(result)
  }
}
