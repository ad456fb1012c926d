import Zoetrope
import ZoetropeTestSupport

/// Indices like those of a dithered photograph: neighbours are similar, but rarely equal for long.
enum DitheredIndices {
  static func make(width: Int, height: Int) -> [UInt8] {
    var random = SplitMix64(seed: 5)
    return (0..<width * height).map { place in
      let slope = (place % width) / 6 + (place / width) / 8
      return UInt8(truncatingIfNeeded: (slope + Int(random.next() % 3)) % 120)
    }
  }
}

/// Finding the frames of a GIF in memory.
enum ScanStage {
  static func make() -> Stage {
    var gif = GIFBuilder()
    gif.signature()
    gif.screen(width: 64, height: 64, palette: GIFPalette([.black]))
    let frames = 1000
    let data = GIFBuilder.subBlocks([UInt8](repeating: 0x5a, count: 4000))
    for _ in 0..<frames {
      gif.graphicControl(GIFGraphicControl(delay: 4))
      gif.raw([0x2c, 0, 0, 0, 0, 64, 0, 64, 0, 0, 8])
      gif.raw(data)
      gif.raw([0])
    }
    gif.trailer()
    let bytes = gif.bytes
    return Stage(name: "scan", item: "frame", items: frames) {
      var scanner = GIFScanner()
      try? unsafe scanner.feed(bytes.span.bytes)
      Calibration.keep(UInt64(scanner.image.frames.count))
    }
  }
}

/// Expanding LZW codes to palette indices.
enum LZWStage {
  static func make() -> Stage {
    let (width, height) = (640, 480)
    let indices = DitheredIndices.make(width: width, height: height)
    let codes = LZWEncoder.encode(indices)
    let size = LZWEncoder.minimumCodeSize(for: indices)
    let room = LZWDecoder.headroom + width * height + LZWDecoder.slack
    let output = UnsafeMutablePointer<UInt8>.allocate(capacity: room)
    unsafe output.initialize(repeating: 0, count: room)
    var expander = LZWDecoder()
    func expand() -> Int {
      let result = unsafe codes.withUnsafeBytes {
        unsafe expander.expand(
          $0, minimumCodeSize: size, into: output + LZWDecoder.headroom, count: width * height)
      }
      return result.pixelCount
    }
    precondition(expand() == width * height, "the codes are not those of the picture")
    return Stage(name: "lzw", item: "code", items: codeCount(codes, size)) {
      Calibration.keep(UInt64(expand()))
    }
  }

  /// Returns the number of codes in a stream whose dictionary is cleared only when it is full, or never.
  private static func codeCount(_ bytes: [UInt8], _ size: Int) -> Int {
    let clear = 1 << size
    var (width, next, bit, count) = (size + 1, clear + 2, 0, 0)
    while bit + width <= bytes.count * 8 {
      var code = 0
      for place in 0..<width where bytes[(bit + place) / 8] >> ((bit + place) % 8) & 1 == 1 {
        code |= 1 << place
      }
      bit += width
      count += 1
      if code == clear {
        (width, next) = (size + 1, clear + 2)
      } else {
        if next >= 1 << width, width < 12 { width += 1 }
        next += 1
      }
    }
    return count
  }
}

/// Drawing indices, a third of them transparent, on a canvas.
enum PaletteStage {
  static func make() -> Stage {
    let (width, height) = (640, 480)
    let indices = DitheredIndices.make(width: width, height: height).map { $0 % 3 == 0 ? 0 : $0 }
    let colors = (0..<256).map { UInt32($0) &* 0x01_0101 | 0xff00_0000 }
    let canvas = UnsafeMutablePointer<UInt32>.allocate(capacity: width * height)
    unsafe canvas.initialize(repeating: 0, count: width * height)
    return Stage(name: "palette", item: "pixel", items: width * height) {
      unsafe indices.withUnsafeBufferPointer { indices in
        unsafe colors.withUnsafeBufferPointer { colors in
          guard let from = indices.baseAddress, let colors = colors.baseAddress else { return }
          unsafe IndexedBlitter.draw(
            indices: from, indexStride: width, width: width, height: height, palette: colors,
            transparent: 0, into: canvas, canvasStride: width)
        }
      }
      Calibration.keep(UInt64(unsafe canvas[width]))
    }
  }
}
