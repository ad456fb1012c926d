import ZoetropeFrames

/// A comparison that finds the first frame in which the pictures of other programs differ from this package's pictures.
struct PictureComparison {
  /// The kinds of damage that the models handle.
  private static let known: Set<Damage.Kind> = [
    .missingTrailer, .gifFrameOutside, .gifCanvasGrown, .gifEmptyFrame, .gifReservedDisposal,
  ]

  /// How the pictures of one program are computed, frame by frame.
  private enum Simulation {
    /// The pictures equal this package's, except for frames that lost data and, if `paletteIndex` is set, frames with
    /// an index past the end of the palette.
    case same(paletteIndex: Rule?)
    case gif(GIFSimulation)
    case apng(APNGSimulation)
    /// The program shows only the still picture of a PNG.
    case still
    /// The first difference is known, but damage in a later frame could still make the program reject the file.
    case watched

    /// Whether damage in any frame makes the file yield no frames.
    var failsAsWhole: Bool {
      switch self {
      case .gif(let simulation): simulation.model.failsAsWhole
      case .watched: true
      case .same, .apng, .still: false
      }
    }

    /// Returns whether the picture of a frame with `damage` can still be predicted.
    func predicts(_ damage: Damage) -> Bool {
      if case .same = self { damage.kind.isTolerated } else { false }
    }
  }

  private let image: AnimatedImage
  /// The programs for which further frames have to be examined.
  private var open: [(place: Int, simulation: Simulation)] = []
  private var found: [PredictedDifference]

  /// Compares the frames of `image` with the pictures that each of `behaviours` predicts.
  ///
  /// Frames are decoded if any of the behaviours predicts pictures. Besides the memory for decoding, the comparison
  /// needs memory for two canvases, and for one more per ``GIFModel`` or ``APNGModel``.
  ///
  /// - Throws: Decoding errors; `cancelled` if `isCancelled` returns true. It is called before each frame is compared.
  static func differences(
    of image: AnimatedImage, _ behaviours: [Behaviour], isCancelled: () -> Bool
  ) throws(AnimatedImageError) -> [PredictedDifference] {
    var comparison = try PictureComparison(image, behaviours)
    try comparison.run(isCancelled)
    return comparison.found
  }

  private init(_ image: AnimatedImage, _ behaviours: [Behaviour]) throws(AnimatedImageError) {
    self.image = image
    found = behaviours.map { Self.ruled($0, image) ?? .unknown }
    let damaged = Self.damagedFrame(in: image)
    for (place, behaviour) in behaviours.enumerated() {
      guard found[place] == .unknown || behaviour.isStill else { continue }
      let simulation: Simulation
      switch behaviour.pictures {
      case .unknown: continue
      case .same:
        if let lost = Self.lostFrame(in: image) {
          found[place] = .unpredicted(from: lost.frame, .damage, lost.kind)
        } else {
          found[place] = .none
        }
        open.append((place, .same(paletteIndex: behaviour.paletteIndex)))
        continue
      case .gif(let model):
        let structure = try GIFStructure(image)
        simulation = .gif(GIFSimulation(model, of: structure, size: image.canvasSize))
        if model.failsAsWhole, let difference = Self.refusal(of: image, by: model.rules.frames) {
          found[place] = difference
          continue
        }
        // If this package and the simple reader of ``GIFStructure`` disagree about the frames, no model is reliable.
        let common = zip(structure.frames, image.frames).prefix { $0.rect == $1.rect }.count
        if common < image.frames.count {
          found[place] = .unpredicted(
            from: common, .frames, "frames that decoders count differently")
        }
      case .still(let rule):
        found[place] = Self.refusal(of: image, by: rule) ?? found[place]
        simulation = .still
      case .apng(let model):
        simulation = .apng(APNGSimulation(model, of: image, try PNGStructure(image)))
      }
      if !behaviour.isStill, let damaged, damaged.frame < found[place].frame ?? .max {
        found[place] = .unpredicted(from: damaged.frame, .damage, damaged.kind)
      }
      if found[place] == .unknown { found[place] = .none }
      open.append((place, simulation))
    }
  }

  /// Returns the difference that follows from a rule without comparing pixels, or nil if there is none.
  private static func ruled(_ behaviour: Behaviour, _ image: AnimatedImage) -> PredictedDifference?
  {
    if let rule = behaviour.profiles, image.metadata.hasOtherColors {
      return .differs(at: 0, rule, "a colour profile or gamma")
    }
    if let rule = behaviour.interlacedRow,
      let frame = image.frames.first(where: { $0.isInterlaced && $0.rect.height == 1 })
    {
      return .differs(at: frame.index, rule, "an interlaced frame of one row")
    }
    guard !behaviour.animates else { return nil }
    let rule = behaviour.rules.first { $0.subject == .format }
    guard let rule, image.format != .png else { return nil }
    if image.staticImage != nil { return .differs(at: 0, rule, "the static image is shown") }
    return image.frames.count > 1 ? .differs(at: 1, rule, "only one frame is shown") : nil
  }

  /// Returns the first frame that may be affected by damage that no model handles, or nil if there is no such frame.
  private static func damagedFrame(in image: AnimatedImage) -> (frame: Int, kind: String)? {
    image.damage.filter { !known.contains($0.kind) }
      .map { item in
        // Other programs may read data after the frames as more frames.
        if item.kind == .trailingData { return (image.frames.count, item.kind.name) }
        // A program that reads ahead fails one frame earlier.
        return (max((item.frameIndex ?? 0) - 1, 0), item.kind.name)
      }
      .min { $0.0 < $1.0 }
  }

  /// Returns how a program that rejects damaged files treats `image`, or nil if no damage is known before decoding.
  private static func refusal(of image: AnimatedImage, by rule: Rule) -> PredictedDifference? {
    let damage = image.damage.filter { item in
      // If only the trailer of a GIF is missing, the last frame is complete.
      let isHarmless = image.format == .gif ? known.contains(item.kind) : false
      return !isHarmless && item.kind != .trailingData
    }
    guard let first = damage.first else { return nil }
    if damage.contains(where: { $0.kind == .cutFrame }) {
      return .nothing(rule, "a truncated frame")
    }
    return .unpredicted(from: 0, .damage, first.kind.name)
  }

  /// Returns the first frame that either is lost or may be shown less completely by other programs than by this
  /// package. Returns nil if there is no such frame.
  private static func lostFrame(in image: AnimatedImage) -> (frame: Int, kind: String)? {
    let endings: Set<Damage.Kind> = [.missingTrailer, .cutBlock, .gifMissingTerminator]
    return image.damage
      // Other programs decode the data of a frame without pixels, but this package does not.
      .filter { !$0.kind.isTolerated || endings.contains($0.kind) || $0.kind == .gifEmptyFrame }
      .map { item in
        let isEnding = endings.contains(item.kind)
        return (
          item.frameIndex ?? max(image.frames.count - (isEnding ? 1 : 0), 0), item.kind.name
        )
      }
      .min { $0.0 < $1.0 }
  }

  private mutating func run(_ isCancelled: () -> Bool) throws(AnimatedImageError) {
    guard !open.isEmpty else { return }
    let reader = FrameReader(image)
    let storedReader = StoredFrameReader(image)
    while !open.isEmpty, let frame = try reader.next() {
      if isCancelled() { throw AnimatedImageError(.cancelled, "stopped while comparing frames") }
      let stored = try storedReader.frame(at: frame.index)?.bitmap
      let changed = changedRects(of: frame)
      var remaining: [(place: Int, simulation: Simulation)] = []
      for (place, simulation) in open {
        let failsAsWhole = simulation.failsAsWhole
        if let limit = found[place].frame, frame.index >= limit, !failsAsWhole || limit == 0 {
          continue
        }
        if let damage = frame.damage, !simulation.predicts(damage) {
          found[place] = .unpredicted(
            from: failsAsWhole ? 0 : frame.index, .damage, damage.kind.name)
          continue
        }
        let difference: PredictedDifference?
        let next: Simulation
        switch simulation {
        case .same(let rule):
          let isPastPalette = frame.damage?.kind == .pixelIndex
          difference =
            isPastPalette
            ? rule.map { .differs(at: frame.index, $0, "an index past the palette") } : nil
          next = simulation
        case .watched: (difference, next) = (nil, simulation)
        case .still:
          if image.header.bitDepth == 16 {
            found[place] = .unpredicted(from: 0, .colour, "16 bits per channel, rounded to 8")
          }
          continue
        case .gif(var gif):
          difference = gif.difference(
            at: frame.index, stored: stored, shown: frame.bitmap, changed: changed)
          next = .gif(gif)
        case .apng(var apng):
          difference = apng.difference(
            at: frame.index, stored: stored, shown: frame.bitmap, changed: changed)
          next = .apng(apng)
        }
        if let difference {
          found[place] = difference
          if failsAsWhole { remaining.append((place, .watched)) }
        } else {
          remaining.append((place, next))
        }
      }
      open = remaining
    }
  }

  /// Returns the rectangles in which `frame` may differ from the previous frame. They can be much smaller than the
  /// dirty rectangle, which joins the frame and the disposal even if these are in opposite corners.
  private func changedRects(of frame: CompositedFrame) -> [PixelRect] {
    let disposed =
      frame.index > 0 && image.frames[frame.index - 1].disposal != .keep
      ? image.frames[frame.index - 1].rect : .empty
    let rect = image.frames[frame.index].rect
    let isAll = disposed.union(rect).contains(frame.dirtyRect)
    return isAll ? [disposed, rect] : [frame.dirtyRect]
  }
}

extension Behaviour {
  fileprivate var isStill: Bool { if case .still = pictures { true } else { false } }
}

extension AnimationMetadata {
  /// Whether the file declares a colour space other than sRGB.
  fileprivate var hasOtherColors: Bool {
    if let cicp { return cicp != [1, 13, 0, 1] }
    if iccProfile != nil { return true }
    guard srgbIntent == nil else { return false }
    return gamma.map { $0 != 45_455 } ?? false || chromaticities != nil
  }
}
