package import Zoetrope

/// A random animation and how to write it, with what a player must show.
package struct RandomFilm {
  package var frames: [WritableFrame] = []
  package var options = AnimationWriterOptions()
  /// The expected showings: each picture that differs from the previous one, and how long it is
  /// shown.
  package private(set) var shown: [Shown] = []
  private var poster: [UInt64]?

  /// A picture, as its pixels of 16 bits per sample, and how long it is shown.
  package struct Shown: Hashable {
    package var pixels: [UInt64]
    package var time: ExactTime
  }

  /// - Parameter below: A choice of a number below another one.
  package init(below: (Int) -> Int) {
    let size = PixelSize(width: 1 + below(40), height: 1 + below(20))
    let isDeep = below(5) == 0
    let keepsHidden = below(4) == 0
    let colors = Colors(below: below, isDeep: isDeep)
    var pixels = [UInt64](repeating: 0, count: size.area)
    if below(3) > 0 { pixels = pixels.map { _ in colors.color(below) } }
    var past: [[UInt64]] = []
    for _ in 0..<1 + below(10) {
      let kind = below(8)
      if kind == 0, let earlier = past.last(where: { _ in below(2) == 0 }) {
        pixels = earlier
      } else if kind > 1 || past.isEmpty {
        draw(on: &pixels, size, colors, below)
      }
      past.append(pixels)
      let kept = keepsHidden ? pixels : pixels.map { $0 >> 48 == 0 ? 0 : $0 }
      let delay = Self.delay(below)
      frames.append(
        WritableFrame(bitmap: Self.bitmap(pixels, size, isDeep: isDeep), delay: delay))
      add(kept, delay)
    }
    options = AnimationWriterOptions(
      playCount: below(2) == 0 ? .indefinite : .finite(1 + below(3)),
      effort: [.fast, .balanced, .small][below(3)],
      identicalFrames: below(2) == 0 ? .merge : .keep, keepsHiddenColors: keepsHidden,
      frameCount: below(3) == 0 ? frames.count : nil, parallelism: 1 + below(3))
    if below(4) == 0 {
      draw(on: &pixels, size, colors, below)
      options.poster = Self.bitmap(pixels, size, isDeep: isDeep)
      poster = keepsHidden ? pixels : pixels.map { $0 >> 48 == 0 ? 0 : $0 }
    }
    if below(3) > 0 {
      var survey = ColorSurvey(keepsHiddenColors: keepsHidden)
      for frame in frames { try? survey.add(frame.bitmap) }
      options.survey = survey
    }
    guard below(2) == 0 else { return }
    for place in 1..<max(frames.count, 1) where frames[place - 1].bitmap.size == size {
      frames[place].changed = PixelDifference.bounds(
        from: frames[place - 1].bitmap, to: frames[place].bitmap)
    }
  }

  package init(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    self.init { Int.random(in: 0..<$0, using: &random) }
  }

  private mutating func add(_ pixels: [UInt64], _ delay: FrameDelay) {
    if let last = shown.last, last.pixels == pixels {
      shown[shown.count - 1].time = last.time + ExactTime(delay)
    } else {
      shown.append(Shown(pixels: pixels, time: ExactTime(delay)))
    }
  }

  /// Colours of one kind: few, grey, opaque, opaque or transparent, any.
  private struct Colors {
    let kind: Int
    let isDeep: Bool
    let some: [UInt64]

    init(below: (Int) -> Int, isDeep: Bool) {
      (kind, self.isDeep) = (below(6), isDeep)
      let (kind, count) = (kind, [2, 3, 5, 17, 250][below(5)])
      some = (0..<count).map { _ in Self.any(kind, isDeep: isDeep, below) }
    }

    func color(_ below: (Int) -> Int) -> UInt64 {
      kind < 3 ? some[below(some.count)] : Self.any(kind, isDeep: isDeep, below)
    }

    private static func any(_ kind: Int, isDeep: Bool, _ below: (Int) -> Int) -> UInt64 {
      func sample() -> UInt64 { isDeep ? UInt64(below(65536)) : UInt64(below(256)) * 257 }
      var samples = [sample(), sample(), sample()]
      if kind == 1 || kind == 3 { samples = [samples[0], samples[0], samples[0]] }
      let alpha: UInt64 = [65535, below(3) == 0 ? 0 : 65535, below(3) == 0 ? sample() : 65535][
        below(3) * kind % 3]
      return samples[0] | samples[1] << 16 | samples[2] << 32 | alpha << 48
    }
  }

  private func draw(
    on pixels: inout [UInt64], _ size: PixelSize, _ colors: Colors, _ below: (Int) -> Int
  ) {
    let (left, top) = (below(size.width), below(size.height))
    let (width, height) = (1 + below(size.width - left), 1 + below(size.height - top))
    let (kind, color) = (below(4), colors.color(below))
    for y in top..<top + height {
      for x in left..<left + width {
        switch kind {
        case 0: pixels[y * size.width + x] = color
        case 1: pixels[y * size.width + x] = 0
        case 2: pixels[y * size.width + x] = colors.color(below)
        default: if below(9) == 0 { pixels[y * size.width + x] = colors.color(below) }
        }
      }
    }
  }

  private static func delay(_ below: (Int) -> Int) -> FrameDelay {
    let delays: [(UInt32, UInt32)] = [
      (1, 10), (1, 30), (100, 1000), (3, 100), (0, 100), (1, 1000), (65535, 1), (7, 65521),
      (70_000, 140_000), (1001, 30_000),
    ]
    let (numerator, denominator) = delays[below(delays.count)]
    return FrameDelay(numerator: numerator, denominator: denominator)
  }

  private static func bitmap(_ pixels: [UInt64], _ size: PixelSize, isDeep: Bool) -> Bitmap {
    Bitmap.drawn(size: size, format: isDeep ? .rgba16 : .rgba8) { y, row in
      for x in 0..<size.width {
        for channel in 0..<4 {
          let sample = UInt16(truncatingIfNeeded: pixels[y * size.width + x] >> (channel * 16))
          if isDeep {
            row.storeBytes(of: sample, toByteOffset: x * 8 + channel * 2, as: UInt16.self)
          } else {
            row.storeBytes(of: UInt8(sample >> 8), toByteOffset: x * 4 + channel, as: UInt8.self)
          }
        }
      }
    }
  }

  /// The pixels of a bitmap with 16 bits per sample.
  private static func pixels(_ bitmap: Bitmap) -> [UInt64] {
    var pixels: [UInt64] = []
    for y in 0..<bitmap.height {
      let row = bitmap.row(y)
      for x in 0..<bitmap.width {
        pixels.append(
          (0..<4).reduce(0) {
            $0 | UInt64(row.load(UInt16.self, at: x * 8 + $1 * 2)) << ($1 * 16)
          })
      }
    }
    return pixels
  }

  /// Writes the film; returns the file.
  package func write() throws(AnimatedImageError) -> [UInt8] {
    let sink = MemorySink()
    let writer = try AnimationWriter(to: sink, options: options)
    for frame in frames { try writer.append(frame) }
    try writer.finish()
    return sink.bytes
  }

  /// The defects of `file` that either decoder finds; empty if there are none.
  package func problems(of file: [UInt8]) throws(AnimatedImageError) -> [String] {
    var problems: [String] = []
    for decoder in [PixelDecoder.fast, .reference] {
      let image = try AnimatedImage(
        bytes: file,
        options: DecodingOptions(
          damage: .strict, decoder: decoder, keeps16Bit: true, parallelism: 1))
      if image.format != .apng { problems.append("\(decoder): \(image.format)") }
      if image.playCount != options.playCount { problems.append("\(decoder): \(image.playCount)") }
      if !image.damage.isEmpty { problems.append("\(decoder): \(image.damage)") }
      var found = RandomFilm(shown: [])
      let reader = FrameReader(image)
      while let frame = try reader.next() {
        if let damage = frame.damage { problems.append("\(decoder): \(damage)") }
        found.add(shownPixels(frame.bitmap), image.frames[frame.index].delay)
      }
      if found.shown.map(\.time) != shown.map(\.time) {
        problems.append("\(decoder): times \(found.shown.map(\.time)) for \(shown.map(\.time))")
      } else if found.shown != shown {
        let place = zip(found.shown, shown).enumerated().first { $1.0 != $1.1 }?.offset ?? -1
        problems.append("\(decoder): picture \(place)")
      }
      if (image.staticImage != nil) != (poster != nil) { problems.append("\(decoder): poster") }
      if let poster, shownPixels(try image.renderStaticBitmap()) != poster {
        problems.append("\(decoder): pixels of the poster")
      }
    }
    return problems
  }

  /// The pixels that count: a colour that stands for transparent has no meaning unless hidden colours have one.
  private func shownPixels(_ bitmap: Bitmap) -> [UInt64] {
    let pixels = Self.pixels(bitmap)
    return options.keepsHiddenColors ? pixels : pixels.map { $0 >> 48 == 0 ? 0 : $0 }
  }

  private init(shown: [Shown]) { self.shown = shown }
}
