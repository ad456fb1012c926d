import FuzzSupport
import Zoetrope
import ZoetropeTestSupport

@testable import ZoetropeCodec
@testable import ZoetropeCore
@testable import ZoetropeFrames

/// The LZW compressor and the LZW search against both decoders: what they write gives the same indices, and nothing is
/// left over. Where the search may choose between two indices, it gives one of them.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzCompressor(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  var choices = FuzzChoices(unsafe FuzzBytes.copy(data, count))
  let mask = UInt8(truncatingIfNeeded: 1 << (1 + choices.below(8)) - 1)
  let spareBits = choices.below(3)
  let repeats = 1 + choices.below(200)
  let isStriped = choices.byte() & 1 == 0
  let rule = LZWSearch.Rule(
    lookahead: [0, 2, 8][choices.below(3)], branches: 2 + choices.below(7),
    keepsFullTable: choices.byte() & 1 == 0)
  let seed = choices.byte()
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
  let others = alternatives(to: indices, mask: mask, seed: seed)
  do {
    let size = codeSize(for: indices, spareBits)
    try check(compressed(indices, size), indices, indices)
    let found = try searched(
      indices, others, max(size, codeSize(for: others, spareBits)), rule)
    try check(found, indices, others)
  } catch {
    fatalError("\(error)")
  }
  return 0
}

private func compressed(_ indices: [UInt8], _ size: Int) throws(AnimatedImageError) -> [UInt8] {
  var bytes = header(width: indices.count)
  try LZWCompressor().append(indices.rawBytes, minimumCodeSize: size, to: &bytes)
  return bytes
}

private func searched(
  _ indices: [UInt8], _ others: [UInt8], _ size: Int, _ rule: LZWSearch.Rule
) throws(AnimatedImageError) -> [UInt8] {
  var bytes = header(width: indices.count)
  let result = try LZWSearch().append(
    indices.rawBytes, or: others.rawBytes, minimumCodeSize: size, rule, limit: .max, to: &bytes)
  FuzzBytes.require(!result.isTooLong, "too long without a limit")
  return bytes
}

/// Second indices for the pixels of `indices`: about one in four differs from the first, or none if `seed` is even.
private func alternatives(to indices: [UInt8], mask: UInt8, seed: UInt8) -> [UInt8] {
  guard seed & 1 == 1 else { return indices }
  var random = SplitMix64(seed: UInt64(seed))
  let transparent = UInt8(truncatingIfNeeded: random.next()) & mask
  // Either one index for all, as a transparent one is, or any.
  let isTransparent = seed & 2 == 0
  return indices.map { index in
    let bits = random.next()
    guard bits & 3 == 0 else { return index }
    return isTransparent ? transparent : UInt8(truncatingIfNeeded: bits >> 8) & mask
  }
}

private func codeSize(for indices: [UInt8], _ spareBits: Int) -> Int {
  min(LZWCompressor.minimumCodeSize(greatestIndex: indices.max() ?? 0) + spareBits, 8)
}

/// A GIF up to the data of its only frame, which has one row. Each index is a grey level.
private func header(width: Int) -> [UInt8] {
  var bytes = Array("GIF89a".utf8) + UInt16(width).littleEndianBytes + [1, 0, 0xf7, 0, 0]
  bytes += (0...255).flatMap { [UInt8($0), UInt8($0), UInt8($0)] }
  bytes += [0x2c, 0, 0, 0, 0] + UInt16(width).littleEndianBytes + [1, 0, 0]
  return bytes
}

/// Requires that both decoders find one of two indices in each pixel of the GIF that ends after `data`.
private func check(_ data: [UInt8], _ indices: [UInt8], _ others: [UInt8]) throws {
  for decoder in [PixelDecoder.fast, .reference] {
    let image = try AnimatedImage(
      bytes: data + [0x3b],
      options: DecodingOptions(damage: .strict, decoder: decoder, parallelism: 1))
    FuzzBytes.require(image.damage.isEmpty, "\(image.damage)")
    let frame = try FrameReader(image).next()
    guard let frame else { fatalError("no frame") }
    FuzzBytes.require(frame.damage == nil, "\(frame.damage, default: "")")
    let row = frame.bitmap.row(0)
    for (x, index) in indices.enumerated() {
      let shown = row[4 * x]
      FuzzBytes.require(
        shown == index || shown == others[x], "\(decoder): pixel \(x) of \(indices.count)")
    }
  }
}
