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
  package init(_ format: AnimationFormat = .apng, below: (Int) -> Int) {
    let isGIF = format == .gif
    let size = PixelSize(width: 1 + below(40), height: 1 + below(20))
    let isDeep = below(5) == 0 && !isGIF
    let keepsHidden = below(4) == 0 && !isGIF
    let shortDelays: AnimationWriterOptions.ShortDelays = isGIF && below(2) == 0 ? .keep : .merge
    var colors = Colors(below: below, isDeep: isDeep, hasPalette: isGIF)
    var pixels = [UInt64](repeating: 0, count: size.area)
    if below(3) > 0 { pixels = pixels.map { _ in colors.color(below) } }
    var past: [[UInt64]] = []
    for _ in 0..<1 + below(10) {
      if isGIF, below(4) == 0 { colors = Colors(below: below, isDeep: false, hasPalette: true) }
      let kind = below(8)
      if kind == 0, let earlier = past.last(where: { _ in below(2) == 0 }) {
        pixels = earlier
      } else if kind > 1 || past.isEmpty {
        draw(on: &pixels, size, colors, below)
      }
      past.append(pixels)
      let kept = keepsHidden ? pixels : pixels.map { $0 >> 48 == 0 ? 0 : $0 }
      let delay = isGIF && shortDelays == .merge ? Self.longDelay(below) : Self.delay(below)
      frames.append(
        WritableFrame(bitmap: Self.bitmap(pixels, size, isDeep: isDeep), delay: delay))
      add(kept, ExactTime(delay))
    }
    options = AnimationWriterOptions(
      format: format, playCount: below(2) == 0 ? .indefinite : .finite(1 + below(3)),
      effort: [.fast, .balanced, .small][below(3)],
      identicalFrames: below(2) == 0 ? .merge : .keep, shortDelays: shortDelays,
      keepsHiddenColors: keepsHidden, colors: isGIF ? .exact : .automatic,
      frameCount: below(3) == 0 ? frames.count : nil, parallelism: 1 + below(3))
    if below(4) == 0, !isGIF {
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

  package init(_ format: AnimationFormat = .apng, seed: UInt64) {
    var random = SplitMix64(seed: seed)
    self.init(format) { Int.random(in: 0..<$0, using: &random) }
  }

  private mutating func add(_ pixels: [UInt64], _ time: ExactTime) {
    if let last = shown.last, last.pixels == pixels {
      shown[shown.count - 1].time = last.time + time
    } else {
      shown.append(Shown(pixels: pixels, time: time))
    }
  }

  /// Returns this film without the colours of transparent pixels.
  private func forgettingHiddenColors() -> RandomFilm {
    var film = RandomFilm(shown: [])
    film.options = options
    film.options.keepsHiddenColors = false
    film.poster = poster.map(film.shownPixels)
    for picture in shown { film.add(film.shownPixels(picture.pixels), picture.time) }
    return film
  }

  /// Colours of one kind: few, grey, opaque, opaque or transparent, any.
  private struct Colors {
    let kind: Int
    let isDeep: Bool
    let some: [UInt64]

    /// - Parameter hasPalette: Whether there are at most 250 colours, all of them opaque or transparent.
    init(below: (Int) -> Int, isDeep: Bool, hasPalette: Bool) {
      (kind, self.isDeep) = (below(hasPalette ? 3 : 6), isDeep)
      let (kind, count) = (kind, [2, 3, 5, 17, 250][below(5)])
      some = (0..<count).map { _ in
        let color = Self.any(kind, isDeep: isDeep, below)
        if !hasPalette { return color }
        return color >> 48 < 32768 ? color & (1 << 48 - 1) : color | 65535 << 48
      }
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

  /// Returns a delay that browsers show as it is, which is at least 2 cs.
  private static func longDelay(_ below: (Int) -> Int) -> FrameDelay {
    let delay = Self.delay(below)
    return delay.duration < .milliseconds(25) ? FrameDelay(numerator: 1, denominator: 30) : delay
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
  static func pixels(_ bitmap: Bitmap) -> [UInt64] {
    let isDeep = bitmap.format == .rgba16
    var pixels: [UInt64] = []
    for y in 0..<bitmap.height {
      let row = bitmap.row(y)
      for x in 0..<bitmap.width {
        pixels.append(
          (0..<4).reduce(0) {
            let sample =
              isDeep
              ? UInt64(row.load(UInt16.self, at: x * 8 + $1 * 2)) : UInt64(row[x * 4 + $1]) * 257
            return $0 | sample << ($1 * 16)
          })
      }
    }
    return pixels
  }

  /// The defects that either decoder finds in the file that is written and, if `optimizing`, in the same file made
  /// smaller; empty if there are none.
  package func problems(optimizing: Bool) throws(AnimatedImageError) -> [String] {
    guard let file = try fittingFile() else { return [] }
    var problems = try problems(of: file)
    guard optimizing else { return problems }
    let sink = MemorySink()
    _ = try AnimatedImage(bytes: file, options: DecodingOptions(keeps16Bit: true)).optimize(
      to: sink,
      options: OptimizingOptions(effort: options.effort, parallelism: options.parallelism))
    problems += try forgettingHiddenColors().problems(of: sink.bytes).map { "optimized: \($0)" }
    if sink.bytes.count > file.count { problems.append("\(sink.bytes.count) bytes") }
    return problems
  }

  /// Writes the film. Returns nil if its pictures have more colours than palettes hold.
  func fittingFile() throws(AnimatedImageError) -> [UInt8]? {
    do {
      return try write()
    } catch {
      let isTooMuch = shown.contains { Set($0.pixels).count > 255 }
      guard options.format == .gif, error.code == .unwritable, isTooMuch else { throw error }
      return nil
    }
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
  private func problems(of file: [UInt8]) throws(AnimatedImageError) -> [String] {
    var problems: [String] = []
    for decoder in [PixelDecoder.fast, .reference] {
      let image = try AnimatedImage(
        bytes: file,
        options: DecodingOptions(
          damage: .strict, decoder: decoder, keeps16Bit: true, parallelism: 1))
      if image.format != options.format { problems.append("\(decoder): \(image.format)") }
      if image.playCount != options.playCount { problems.append("\(decoder): \(image.playCount)") }
      if !image.damage.isEmpty { problems.append("\(decoder): \(image.damage)") }
      var found = RandomFilm(shown: [])
      let reader = FrameReader(image)
      while let frame = try reader.next() {
        if let damage = frame.damage { problems.append("\(decoder): \(damage)") }
        found.add(
          shownPixels(Self.pixels(frame.bitmap)), ExactTime(image.frames[frame.index].delay))
      }
      if !isShown(found.shown.map(\.time)) {
        problems.append("\(decoder): times \(found.shown.map(\.time)) for \(shown.map(\.time))")
      } else if let place = shown.indices.first(where: {
        found.shown[$0].pixels != shown[$0].pixels
      }) {
        problems.append("\(decoder): picture \(place)")
      }
      if (image.staticImage != nil) != (poster != nil) { problems.append("\(decoder): poster") }
      if let poster, shownPixels(Self.pixels(try image.renderStaticBitmap())) != poster {
        problems.append("\(decoder): pixels of the poster")
      }
    }
    return problems
  }

  /// Whether `times` are those of the film. Each picture of a GIF may begin up to half a centisecond early or late.
  private func isShown(_ times: [ExactTime]) -> Bool {
    guard options.format == .gif, times.count == shown.count else {
      return times == shown.map(\.time)
    }
    var error = ExactTime.zero
    for (time, picture) in zip(times, shown) {
      error = error + time - picture.time
      if error < ExactTime(-1, 200) || ExactTime(1, 200) < error { return false }
    }
    return true
  }

  /// The pixels that count: a colour that stands for transparent has no meaning unless hidden colours have one.
  private func shownPixels(_ pixels: [UInt64]) -> [UInt64] {
    options.keepsHiddenColors ? pixels : pixels.map { $0 >> 48 == 0 ? 0 : $0 }
  }

  private init(shown: [Shown]) { self.shown = shown }
}
