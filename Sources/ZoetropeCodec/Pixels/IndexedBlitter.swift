/// Draws rows of palette indices on a canvas of RGBA words.
///
/// Sixteen indices are looked at together: all transparent, nothing is written; all equal, one
/// colour is stored four times over; else each index is looked up and whole vectors are stored.
/// Transparency needs no branch: a transparent entry is the word 0, every other one has its top bit
/// set, so the sign of the looked-up word says which of the two pixels stays.
///
/// Tried and slower: one store a pixel, pairs of pixels in 64-bit words, a test for groups with no
/// transparent index, groups of 32, and a loop that skips 64 transparent indices at once (it wins a
/// tenth on screen recordings and costs as much wherever transparency is scattered).
///
/// Unsafe, as it is the other half of what decoding a GIF costs: each call reads and writes `count`
/// elements from the addresses given, and entries 0 to 255 of the palette, and nothing else. The canvas
/// must not overlap the indices.
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
  @inline(never)
  @unsafe package static func opaque(
    indices: UnsafePointer<UInt8>, count: Int, palette: UnsafePointer<UInt32>,
    into canvas: UnsafeMutablePointer<UInt32>
  ) {
    guard count >= 16 else {
      for i in 0..<max(count, 0) { unsafe canvas[i] = palette[Int(indices[i])] }
      return
    }
    var i = 0
    while i &+ 16 <= count {
      let group = unsafe Group(indices + i)
      if group.isUniform {
        unsafe splat(group, palette, canvas + i)
      } else {
        unsafe replace(group, palette, canvas + i)
      }
      i &+= 16
    }
    // The last group overlaps the one before it: drawing a pixel twice changes nothing.
    i = count &- 16
    unsafe replace(Group(indices + i), palette, canvas + i)
  }

  /// As `over`, with a palette whose transparent entry is 0.
  @inline(never)
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
    while i &+ 16 <= count {
      let group = unsafe Group(indices + i)
      if group.isFilled(with: none) {
        i &+= 16
        continue
      }
      if group.isUniform {
        unsafe splat(group, palette, canvas + i)
      } else {
        unsafe blend(group, palette, canvas + i)
      }
      i &+= 16
    }
    i = count &- 16
    unsafe blend(Group(indices + i), palette, canvas + i)
  }
}
