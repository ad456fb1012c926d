import FuzzSupport
import Zoetrope

@testable import ZoetropeCodec
@testable import ZoetropeCore
@testable import ZoetropeFrames

/// The LZW compressor against both decoders: what it writes gives the same indices, and nothing is left over.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzCompressor(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  var choices = FuzzChoices(unsafe FuzzBytes.copy(data, count))
  let mask = UInt8(truncatingIfNeeded: 1 << (1 + choices.below(8)) - 1)
  let spareBits = choices.below(3)
  let repeats = 1 + choices.below(200)
  let isStriped = choices.byte() & 1 == 0
  // Each byte stands for some pixels, so that short inputs fill the table.
  var indices: [UInt8] = []
  for byte in choices.remainder() {
    for place in 0..<repeats {
      indices.append(
        (isStriped ? byte &+ UInt8(truncatingIfNeeded: place &* Int(byte)) : byte) & mask)
    }
  }
  guard !indices.isEmpty else { return 0 }
  indices = Array(indices.prefix(65_535))
  let least = LZWCompressor.minimumCodeSize(greatestIndex: indices.max() ?? 0)
  var bytes = Array("GIF89a".utf8) + UInt16(indices.count).littleEndianBytes + [1, 0, 0xf7, 0, 0]
  bytes += (0...255).flatMap { [UInt8($0), UInt8($0), UInt8($0)] }
  bytes += [0x2c, 0, 0, 0, 0] + UInt16(indices.count).littleEndianBytes + [1, 0, 0]
  do {
    try LZWCompressor().append(
      indices.rawBytes, minimumCodeSize: min(least + spareBits, 8), to: &bytes)
    bytes.append(0x3b)
    for decoder in [PixelDecoder.fast, .reference] {
      let image = try AnimatedImage(
        bytes: bytes, options: DecodingOptions(damage: .strict, decoder: decoder, parallelism: 1))
      FuzzBytes.require(image.damage.isEmpty, "\(image.damage)")
      let frame = try FrameReader(image).next()
      guard let frame else { fatalError("no frame") }
      FuzzBytes.require(frame.damage == nil, "\(frame.damage, default: "")")
      let row = frame.bitmap.row(0)
      for (x, index) in indices.enumerated() {
        FuzzBytes.require(row[4 * x] == index, "\(decoder): pixel \(x) of \(indices.count)")
      }
    }
  } catch {
    fatalError("\(error)")
  }
  return 0
}
