internal import Synchronization
internal import Zoetrope
internal import ZoetropeCodec

/// Writes small PNG files quickly: with a palette where 256 colours suffice, else with a filter per
/// row.
enum CompactPNG {
  /// Part of a picture as a PNG file; nil only when memory ran out.
  ///
  /// Transparent pixels are blended with `backdrop`; without one, alpha is kept.
  static func encode(
    _ bitmap: Bitmap, _ rect: PixelRect, over backdrop: Backdrop?, deflater: Deflater
  ) -> [UInt8]? {
    let opaque = backdrop != nil || PixelBlock.isOpaque(bitmap, rect)
    let palette = Palette(bitmap, rect, over: backdrop)
    let colorType: UInt8 = palette != nil ? 3 : opaque ? 2 : 6
    let raw =
      palette?.rows(bitmap, rect, over: backdrop)
      ?? filtered(
        opaque
          ? PixelBlock.rgb(bitmap, rect, over: backdrop ?? .black)
          : PixelBlock.rgba(bitmap, rect), bytesPerRow: rect.width * (opaque ? 3 : 4),
        pixel: opaque ? 3 : 4)
    guard let data = deflater.zlib(raw) else { return nil }
    var file: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
    chunk("IHDR", bigEndian(rect.width) + bigEndian(rect.height) + [8, colorType, 0, 0, 0], &file)
    if let palette {
      chunk("PLTE", palette.colors, &file)
      if let last = palette.alpha.lastIndex(where: { $0 != 255 }) {
        chunk("tRNS", Array(palette.alpha[...last]), &file)
      }
    }
    chunk("IDAT", data, &file)
    chunk("IEND", [], &file)
    return file
  }

  private static func bigEndian(_ value: Int) -> [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) }
  }

  private static func chunk(_ type: StaticString, _ data: [UInt8], _ file: inout [UInt8]) {
    file += bigEndian(data.count)
    let start = file.count
    file.append(ascii: type)
    file += data
    file += bigEndian(Int(CRC32.of(file[start...])))
  }

  /// Filters each row with None, Sub or Up, whichever has the smallest sum of absolute values.
  private static func filtered(_ raw: [UInt8], bytesPerRow: Int, pixel: Int) -> [UInt8] {
    var output: [UInt8] = []
    let rows = raw.count / max(bytesPerRow, 1)
    output.reserveCapacity(raw.count + rows)
    for row in 0..<rows {
      let start = row * bytesPerRow
      var costs = (none: 0, sub: 0, up: 0)
      for index in start..<start + bytesPerRow {
        let left = index - start >= pixel ? raw[index - pixel] : 0
        let above = row > 0 ? raw[index - bytesPerRow] : 0
        costs.none += Int(Int8(bitPattern: raw[index]).magnitude)
        costs.sub += Int(Int8(bitPattern: raw[index] &- left).magnitude)
        costs.up += Int(Int8(bitPattern: raw[index] &- above).magnitude)
      }
      let least = min(costs.none, costs.sub, costs.up)
      let filter: UInt8 = costs.none == least ? 0 : costs.sub == least ? 1 : 2
      output.append(filter)
      for index in start..<start + bytesPerRow {
        switch filter {
        case 1: output.append(raw[index] &- (index - start >= pixel ? raw[index - pixel] : 0))
        case 2: output.append(raw[index] &- (row > 0 ? raw[index - bytesPerRow] : 0))
        default: output.append(raw[index])
        }
      }
    }
    return output
  }

  /// The colours of a picture, at most 256.
  private struct Palette {
    var colors: [UInt8] = []
    var alpha: [UInt8] = []
    private var table = ColorTable(limit: 256)

    init?(_ bitmap: Bitmap, _ rect: PixelRect, over backdrop: Backdrop?) {
      for y in rect.y..<rect.maxY {
        let row = bitmap.pixels(row: y)
        for x in rect.x..<rect.maxX {
          let pixel = Self.pixel(row[x], x: x, y: y, over: backdrop)
          guard let index = table.index(of: pixel.word) else { return nil }
          if index == alpha.count {
            colors += [pixel.red, pixel.green, pixel.blue]
            alpha.append(pixel.alpha)
          }
        }
      }
    }

    func rows(_ bitmap: Bitmap, _ rect: PixelRect, over backdrop: Backdrop?) -> [UInt8] {
      var bytes: [UInt8] = []
      bytes.reserveCapacity((rect.width + 1) * rect.height)
      var table = self.table
      for y in rect.y..<rect.maxY {
        let row = bitmap.pixels(row: y)
        bytes.append(0)
        for x in rect.x..<rect.maxX {
          let pixel = Self.pixel(row[x], x: x, y: y, over: backdrop)
          bytes.append(UInt8(truncatingIfNeeded: table.index(of: pixel.word) ?? 0))
        }
      }
      return bytes
    }

    @inline(__always)
    private static func pixel(_ pixel: RGBA, x: Int, y: Int, over backdrop: Backdrop?) -> RGBA {
      guard let backdrop, pixel.alpha != 255 else { return pixel }
      let color = PixelBlock.flattened(pixel, x: x, y: y, over: backdrop)
      return RGBA(red: color.red, green: color.green, blue: color.blue)
    }
  }
}

/// A compressor (about a megabyte) that copies of an encoder share. Copies do not encode at the
/// same time, so nobody waits for the lock.
final class Deflater: Sendable {
  private let compressor: Mutex<ZlibCompressor?>

  /// A compressor of libdeflate's `level`, 1 to 12.
  init(level: Int) { compressor = Mutex(ZlibCompressor(level: level)) }

  /// The bytes as a zlib stream; nil only when memory ran out.
  func zlib(_ bytes: [UInt8]) -> [UInt8]? {
    compressor.withLock { compressor in
      let stream = compressor?.compress(bytes) ?? []
      return stream.isEmpty ? nil : stream
    }
  }
}
