/// Draws rows of palette indices on a canvas of RGBA words.
///
/// Sixteen indices are looked at together: all transparent, nothing is written; all equal, one
/// colour is stored four times over; else each index is looked up and whole vectors are stored.
/// Transparency needs no branch: a transparent entry is the word 0, every other one has its top bit
/// set, so the sign of the looked-up word says which of the two pixels stays. Tried and slower: one
/// store a pixel, pairs of pixels in 64-bit words, a test for groups with no transparent index.
///
/// Unsafe, as it is the other half of what decoding a GIF costs: each call reads and writes `count`
/// elements from the addresses given, and entries 0 to 255 of the palette, and nothing else.
package enum IndexedBlitter {
  typealias Pixels = SIMD4<UInt32>

  /// Draws `height` rows of `width` indices; a pixel whose index is `transparent` stays.
  ///
  /// `indexStride` and `canvasStride` lead from one row to the next, in indices and in pixels.
  /// The entries of `palette`, 256 of them, have the top bit of their alpha set, but for the
  /// transparent one, which may be anything.
  @unsafe package static func draw(
    indices: UnsafePointer<UInt8>, indexStride: Int, width: Int, height: Int,
    palette: UnsafePointer<UInt32>, transparent: UInt8?,
    into canvas: UnsafeMutablePointer<UInt32>, canvasStride: Int
  ) {
    guard width > 0, height > 0 else { return }
    var (rows, count) = (height, width)
    if width == indexStride && width == canvasStride { (rows, count) = (1, width * height) }
    guard let transparent else {
      for row in 0..<rows {
        unsafe opaque(
          indices: indices + row * indexStride, count: count, palette: palette,
          into: canvas + row * canvasStride)
      }
      return
    }
    unsafe withTransparentEntry(of: palette, at: transparent) { palette in
      for row in 0..<rows {
        unsafe blend(
          indices: indices + row * indexStride, count: count, palette: palette,
          transparent: transparent, into: canvas + row * canvasStride)
      }
    }
  }

  /// Draws one row; a pixel whose index is `transparent` stays.
  @unsafe package static func over(
    indices: UnsafePointer<UInt8>, count: Int, palette: UnsafePointer<UInt32>,
    transparent: UInt8?, into canvas: UnsafeMutablePointer<UInt32>
  ) {
    unsafe draw(
      indices: indices, indexStride: count, width: count, height: 1, palette: palette,
      transparent: transparent, into: canvas, canvasStride: count)
  }

  /// Draws one row of which every pixel replaces what is there.
  @unsafe package static func opaque(
    indices: UnsafePointer<UInt8>, count: Int, palette: UnsafePointer<UInt32>,
    into canvas: UnsafeMutablePointer<UInt32>
  ) {
    guard count >= 16 else {
      for i in 0..<max(count, 0) { unsafe canvas[i] = palette[Int(indices[i])] }
      return
    }
    var i = 0
    while true {
      let (low, high) = unsafe sixteen(indices + i)
      if isUniform(low, high) {
        i = unsafe splat(low, indices: indices, from: i, count: count, palette, canvas)
      } else {
        let to = unsafe UnsafeMutableRawPointer(canvas + i)
        unsafe to.storeBytes(of: four(low, 0, palette), toByteOffset: 0, as: Pixels.self)
        unsafe to.storeBytes(of: four(low, 32, palette), toByteOffset: 16, as: Pixels.self)
        unsafe to.storeBytes(of: four(high, 0, palette), toByteOffset: 32, as: Pixels.self)
        unsafe to.storeBytes(of: four(high, 32, palette), toByteOffset: 48, as: Pixels.self)
        i &+= 16
      }
      if i >= count { return }
      // The last group overlaps the one before it: drawing a pixel twice changes nothing.
      i = min(i, count &- 16)
    }
  }

  /// As `over`, with a palette whose transparent entry is 0.
  @unsafe private static func blend(
    indices: UnsafePointer<UInt8>, count: Int, palette: UnsafePointer<UInt32>,
    transparent: UInt8, into canvas: UnsafeMutablePointer<UInt32>
  ) {
    guard count >= 16 else {
      for i in 0..<max(count, 0) {
        let index = unsafe indices[i]
        if index != transparent { unsafe canvas[i] = palette[Int(index)] }
      }
      return
    }
    let none = UInt64(transparent) &* 0x0101_0101_0101_0101
    var i = 0
    while true {
      let (low, high) = unsafe sixteen(indices + i)
      if (low ^ none) | (high ^ none) == 0 {
        i &+= 16
        while i &+ 64 <= count, unsafe isUniform64(indices + i, none) { i &+= 64 }
      } else if isUniform(low, high) {
        i = unsafe splat(low, indices: indices, from: i, count: count, palette, canvas)
      } else {
        let to = unsafe UnsafeMutableRawPointer(canvas + i)
        unsafe keepTransparent(four(low, 0, palette), to)
        unsafe keepTransparent(four(low, 32, palette), to + 16)
        unsafe keepTransparent(four(high, 0, palette), to + 32)
        unsafe keepTransparent(four(high, 32, palette), to + 48)
        i &+= 16
      }
      if i >= count { return }
      i = min(i, count &- 16)
    }
  }
}
