import CDeflate
import Zoetrope
import ZoetropeTestSupport

/// A picture of known samples that can be stored as a PNG frame in every way that PNG has.
struct SampleImage {
  var width: Int
  var height: Int
  var bitDepth: Int
  var colorType: Int
  /// Row by row, pixel by pixel, channel by channel.
  var samples: [UInt16]
  var palette: [UInt32] = []
  var transparency: [UInt8] = []

  var channels: Int { [0: 1, 2: 3, 3: 1, 4: 2, 6: 4][colorType, default: 1] }

  /// Random samples; those of a palette mostly lie inside it. Runs make matches and equal pixels.
  init(
    _ width: Int, _ height: Int, bitDepth: Int, colorType: Int, random: inout SplitMix64
  ) {
    self.width = width
    self.height = height
    self.bitDepth = bitDepth
    self.colorType = colorType
    samples = []
    let count = width * height * channels
    let limit = UInt16((1 << bitDepth) - 1)
    while samples.count < count {
      let value = UInt16.random(in: 0...limit, using: &random)
      let run = Int.random(in: 1...4, using: &random) == 1 ? channels * 3 : 1
      samples += Array(repeating: value, count: min(run, count - samples.count))
    }
    if colorType == 3 {
      let entries = Int.random(in: 1...(1 << bitDepth), using: &random)
      palette = (0..<entries).map { _ in UInt32.random(in: 0...UInt32.max, using: &random) }
    }
  }

  func sample(_ x: Int, _ y: Int, _ channel: Int) -> UInt16 {
    samples[(y * width + x) * channels + channel]
  }

  /// What a decoder has to make of a pixel: four channels of 16 bits.
  func deepPixel(_ x: Int, _ y: Int) -> [UInt16] {
    if colorType == 3 {
      let index = Int(sample(x, y, 0))
      let color = index < palette.count ? palette[index] : 0xff00_0000
      return (0..<4).map { UInt16(color >> (8 * $0) & 255) * 257 }
    }
    let values = (0..<channels).map { sample(x, y, $0) }
    let key = stride(from: 0, to: transparency.count, by: 2).map {
      UInt16(transparency[$0]) << 8 | UInt16(transparency[$0 + 1])
    }
    let wide = values.map { UInt16(Int($0) * 65535 / ((1 << bitDepth) - 1)) }
    let opaque: UInt16 = !key.isEmpty && key == values ? 0 : 65535
    return switch colorType {
    case 0: [wide[0], wide[0], wide[0], opaque]
    case 2: wide + [opaque]
    case 4: [wide[0], wide[0], wide[0], wide[1]]
    default: wide
    }
  }

  /// The filtered rows of one pass, or of the whole picture.
  private func scanlines(
    _ columns: [Int], _ rows: [Int], filters: [UInt8], random: inout SplitMix64
  ) -> [UInt8] {
    guard !columns.isEmpty else { return [] }
    let pixelSize = max(1, bitDepth * channels / 8)
    var above = [UInt8](repeating: 0, count: (columns.count * channels * bitDepth + 7) / 8)
    var out: [UInt8] = []
    for y in rows {
      var line: [UInt8] = []
      var bits = 0
      for x in columns {
        for channel in 0..<channels {
          let value = sample(x, y, channel)
          if bitDepth == 16 {
            line += [UInt8(value >> 8), UInt8(value & 255)]
          } else {
            if bits % 8 == 0 { line.append(0) }
            line[bits / 8] |= UInt8(value) << (8 - bitDepth - bits % 8)
            bits += bitDepth
          }
        }
      }
      let filter = filters.randomElement(using: &random) ?? 0
      out.append(filter)
      for (index, byte) in line.enumerated() {
        let left = index >= pixelSize ? line[index - pixelSize] : 0
        let corner = index >= pixelSize ? above[index - pixelSize] : 0
        out.append(byte &- NaivePNG.predictor(filter, left, above[index], corner))
      }
      above = line
    }
    return out
  }

  /// All filtered rows, as they go into the zlib stream.
  func rawData(
    isInterlaced: Bool, filters: [UInt8] = [0, 1, 2, 3, 4, 4, 4, 2], random: inout SplitMix64
  ) -> [UInt8] {
    guard isInterlaced else {
      return scanlines(Array(0..<width), Array(0..<height), filters: filters, random: &random)
    }
    let passes = [
      (0, 8, 0, 8), (4, 8, 0, 8), (0, 4, 4, 8), (2, 4, 0, 4), (0, 2, 2, 4), (1, 2, 0, 2),
      (0, 1, 1, 2),
    ]
    return passes.flatMap { x, stepX, y, stepY in
      scanlines(
        Array(stride(from: x, to: width, by: stepX)),
        Array(stride(from: y, to: height, by: stepY)), filters: filters, random: &random)
    }
  }
}

/// The predictors of PNG, word for word from the specification.
enum NaivePNG {
  static func predictor(_ filter: UInt8, _ left: UInt8, _ up: UInt8, _ corner: UInt8) -> UInt8 {
    switch filter {
    case 1: return left
    case 2: return up
    case 3: return UInt8((Int(left) + Int(up)) / 2)
    case 4:
      let estimate = Int(left) + Int(up) - Int(corner)
      let distances = [left, up, corner].map { abs(estimate - Int($0)) }
      if distances[0] <= distances[1], distances[0] <= distances[2] { return left }
      return distances[1] <= distances[2] ? up : corner
    default: return 0
    }
  }
}

/// Puts zlib streams into data chunks.
enum FrameBytes {
  /// A zlib stream of `raw`.
  static func deflated(_ raw: [UInt8], level: Int32 = 6) -> [UInt8] {
    guard let compressor = unsafe libdeflate_alloc_compressor(level) else { return [] }
    defer { unsafe libdeflate_free_compressor(compressor) }
    var out = [UInt8](repeating: 0, count: libdeflate_zlib_compress_bound(nil, raw.count))
    let count = unsafe libdeflate_zlib_compress(compressor, raw, raw.count, &out, out.count)
    return Array(out.prefix(count))
  }

  static func chunk(_ type: String, _ payload: [UInt8]) -> [UInt8] {
    let body = Array(type.utf8) + payload
    let sum = unsafe libdeflate_crc32(0, body, body.count)
    return word(UInt32(payload.count)) + body + word(sum)
  }

  /// The chunks of a frame: `fdAT` with sequence numbers, or `IDAT`, of `size` bytes each.
  static func chunks(_ stream: [UInt8], isFirst: Bool = true, size: Int = .max) -> [UInt8] {
    var out: [UInt8] = []
    var start = 0
    repeat {
      let part = stream[start..<min(stream.count, start + min(size, stream.count))]
      out +=
        isFirst
        ? chunk("IDAT", Array(part)) : chunk("fdAT", word(UInt32(start) + 1) + Array(part))
      start += part.count
    } while start < stream.count
    return out
  }

  private static func word(_ value: UInt32) -> [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) }
  }
}
