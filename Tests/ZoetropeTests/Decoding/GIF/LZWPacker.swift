/// Packs pixels into LZW codes, well or oddly, as the files found in the wild were.
struct LZWPacker {
  var minimumCodeSize = 8
  /// Whether a clear code comes first.
  var clearsFirst = true
  /// Whether the end code comes last.
  var ends = true
  /// What happens when all 4096 codes are taken.
  var clearsWhenFull = true
  /// A clear code after this many codes, if any.
  var clearsEvery: Int?
  /// The chance, of 256, that a string is cut short of the longest one known.
  var cuts = 0

  private var bytes: [UInt8] = []
  private var bits = 0
  private var bitCount = 0

  init(minimumCodeSize: Int) { self.minimumCodeSize = minimumCodeSize }

  mutating func put(_ code: Int, width: Int) {
    bits |= code << bitCount
    bitCount += width
    while bitCount >= 8 {
      bytes.append(UInt8(bits & 255))
      bits >>= 8
      bitCount -= 8
    }
  }

  mutating func finish() -> [UInt8] {
    if bitCount > 0 { bytes.append(UInt8(bits & 255)) }
    (bits, bitCount) = (0, 0)
    defer { bytes = [] }
    return bytes
  }

  mutating func pack(_ pixels: [UInt8], random: inout some RandomNumberGenerator) -> [UInt8] {
    let clear = 1 << minimumCodeSize
    var children: [Int: Int] = [:]
    var width = minimumCodeSize + 1
    var known = clear + 2
    var sinceClear = 0
    if clearsFirst { put(clear, width: width) }
    var i = 0
    // The decoder knows a string one code later than the packer; the packer's may be the newest.
    while i < pixels.count {
      var code = Int(pixels[i])
      i += 1
      while i < pixels.count, let longer = children[code << 8 | Int(pixels[i])],
        cuts == 0 || UInt8.random(in: 0...255, using: &random) >= UInt8(cuts)
      {
        code = longer
        i += 1
      }
      put(code, width: width)
      sinceClear += 1
      // What the decoder counts: strings up to the one made by this code and the one before it.
      let decoderKnows = min(clear + 2 + sinceClear - 1, 4096)
      if decoderKnows >= 1 << width && width < 12 { width += 1 }
      if i < pixels.count && known < 4096 {
        let key = code << 8 | Int(pixels[i])
        if children[key] == nil { children[key] = known }
        known += 1
      }
      if known == 4096 && clearsWhenFull || sinceClear == clearsEvery ?? 0 {
        put(clear, width: width)
        children = [:]
        (width, known, sinceClear) = (minimumCodeSize + 1, clear + 2, 0)
      }
    }
    if ends { put(clear + 1, width: width) }
    return finish()
  }
}
