internal import Zoetrope

/// Small films of random samples to start mutations from: rows wide enough for the loops that
/// process many pixels at once, every layout of PNG with every filter, GIF codes of all widths.
package enum SeedFilms {
  /// Films of both formats; the same ones for the same seed.
  package static func make(seed: UInt64) -> [[UInt8]] {
    var mutator = ByteMutator(seed: seed)
    let layouts = PNGLayout.ColorType.allCases.flatMap { type in
      type.depths.map { PNGLayout(type, depth: $0) }
    }
    return layouts.map { apng($0, &mutator) } + (2...8).map { gif(depth: $0, &mutator) }
  }

  private static func apng(_ layout: PNGLayout, _ mutator: inout ByteMutator) -> [UInt8] {
    let (width, height) = (UInt32(17 + mutator.below(60)), UInt32(5 + mutator.below(8)))
    var file = APNGBuilder()
    file.png.signature()
    file.png.chunk("IHDR", PNGBuilder.header(width: width, height: height, layout: layout))
    if layout.colorType == .palette {
      file.png.chunk("PLTE", random(3 << layout.depth, &mutator))
      file.png.chunk("tRNS", random(1 << layout.depth, &mutator))
    }
    file.animationControl(frames: 2)
    for index in 0..<2 {
      file.frameControl(APNGFrameControl(width: width, height: height))
      let data = PNGChunks.deflated(rows(layout, Int(width), Int(height), &mutator))
      if index == 0 { file.png.chunk("IDAT", data) } else { file.frameData(data) }
    }
    file.png.chunk("IEND")
    return file.bytes
  }

  /// Filtered rows. Paeth is as frequent as all other filters together, because several Paeth rows
  /// are undone at once.
  private static func rows(
    _ layout: PNGLayout, _ width: Int, _ height: Int, _ mutator: inout ByteMutator
  ) -> [UInt8] {
    let count = (width * layout.colorType.channels * layout.depth + 7) / 8
    return (0..<height).flatMap { _ in
      [UInt8(mutator.one(in: 2) ? 4 : mutator.below(5))] + random(count, &mutator)
    }
  }

  private static func gif(depth: Int, _ mutator: inout ByteMutator) -> [UInt8] {
    let rect = PixelRect(x: 0, y: 0, width: 40 + mutator.below(40), height: 20 + mutator.below(20))
    var file = GIFBuilder()
    file.signature()
    let colors = random(3 << depth, &mutator)
    file.screen(
      width: rect.width, height: rect.height,
      palette: GIFPalette(
        stride(from: 0, to: colors.count, by: 3).map {
          RGBA(red: colors[$0], green: colors[$0 + 1], blue: colors[$0 + 2])
        }))
    for index in 0..<2 {
      var indices: [UInt8] = []
      while indices.count < rect.size.area {
        let value = UInt8(mutator.below(1 << depth))
        let run = mutator.one(in: 4) ? 1 + mutator.below(60) : 1
        indices += [UInt8](repeating: value, count: min(run, rect.size.area - indices.count))
      }
      var frame = GIFFrame(rect: rect, indices: indices)
      frame.isInterlaced = index == 1
      frame.blockSize = 1 + mutator.below(255)
      file.frame(frame)
    }
    file.trailer()
    return file.bytes
  }

  private static func random(_ count: Int, _ mutator: inout ByteMutator) -> [UInt8] {
    (0..<count).map { _ in UInt8(mutator.below(256)) }
  }
}
