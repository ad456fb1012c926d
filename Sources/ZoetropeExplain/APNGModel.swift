import ZoetropeFrames

/// The way in which a program composites an APNG, described by the points in which programs differ. Frames are numbered
/// as in this package, which does not count a static image that is not a frame.
struct APNGModel: Hashable, Sendable {
  /// How a partly transparent pixel is blended over another.
  enum Over: Hashable, Sendable {
    /// The compositing formula of the PNG specification, computed in integers. Divisions by 255 round to nearest, and
    /// the division by the resulting alpha rounds down.
    case roundingDown
    /// Each channel, including alpha, is interpolated between the two pixels. The weight is the alpha of the upper
    /// pixel.
    case interpolating
  }

  let over: Over
  /// Whether the canvas of a palette image is cleared to the first colour of the palette instead of to transparency.
  var clearsToFirstColor = false
  /// Whether the canvas is cleared to opaque black instead of to transparency if an RGB or grey image declares one
  /// colour transparent.
  var clearsKeyToBlack = false
  /// Whether a wrong checksum of a chunk before the pixels makes the file unreadable.
  var refusesWrongChecksums = false
  /// Whether the first frame must cover the canvas.
  var needsWholeFirstFrame = false
  /// Whether 1-bit grey is rejected.
  var refusesOneBitGrey = false
  /// Whether a frame with fewer than 8 bits per sample is misplaced if it covers only part of the canvas.
  var misplacesSmallSamples = false
  /// Whether a chunk between a frame's fcTL chunk and its data makes the program stop reading the file.
  var stopsAtChunkBehindControl = false
  /// Whether a static image that is not a frame is shown as the first frame.
  var countsStaticImage = false
  /// Whether interlaced frames after the first cannot be decoded.
  var failsAtInterlacing = false
  /// Whether the disposal *previous* has no effect on a frame that was blended over the canvas.
  var forgetsPrevious = false
  /// Whether the transparent colour of a grey image is ignored when blending.
  var blendsKeyedGreyAsOpaque = false
  let rules: Rules

  /// The rules that explain a difference.
  struct Rules: Hashable, Sendable {
    let blend: Rule
    let dispose: Rule
    let frames: Rule
  }
}

/// A simulation that composites an APNG as an ``APNGModel`` describes, for comparison with this package's frames.
struct APNGSimulation {
  private let model: APNGModel
  private let image: AnimatedImage
  private let structure: PNGStructure
  private let canvas: ModelCanvas
  private let cleared: UInt32
  private var disposal: (rect: PixelRect, saved: [UInt32]?, clears: Bool) = (.empty, nil, false)

  init(_ model: APNGModel, of image: AnimatedImage, _ structure: PNGStructure) {
    (self.model, self.image, self.structure) = (model, image, structure)
    canvas = ModelCanvas(size: image.canvasSize, fill: 0)
    if structure.hasPalette {
      cleared = model.clearsToFirstColor ? structure.firstColor : 0
    } else {
      let isBlack = model.clearsKeyToBlack && structure.isKeyed && !structure.isBlackKeyed
      cleared = structure.hasAlpha && !isBlack ? 0 : RGBA.black.word
    }
  }

  /// Draws frame `index`, and compares the canvas with `shown`, this package's picture of the frame.
  ///
  /// - Parameters:
  ///   - stored: The frame's own pixels, or nil if the frame has none.
  ///   - changed: The rectangles in which `shown` may differ from the previous frame.
  /// - Returns: The difference, whose outcome may be `unpredicted`, or nil if there is none.
  mutating func difference(
    at index: Int, stored: Bitmap?, shown: Bitmap, changed: [PixelRect]
  ) -> PredictedDifference? {
    let control = image.frames[index]
    if let difference = refusal(of: control) { return difference }
    guard let stored else { return .unpredicted(from: index, .frames, "no pixels") }
    if disposal.clears { canvas.fill(disposal.rect, with: cleared) }
    if let saved = disposal.saved { canvas.restore(saved, in: disposal.rect) }
    let isOver = control.blend == .over && index > 0
    prepareDisposal(of: control, isOver: isOver)
    canvas.draw(stored, at: control.rect, blending: isOver ? blending : .source)
    guard let place = canvas.firstDifference(from: shown, in: changed) else { return nil }
    return .differs(
      at: index, isOver ? model.rules.blend : model.rules.dispose,
      "pixel \(place.x),\(place.y)")
  }

  /// Returns the difference that a frame causes whatever its pixels are, or nil if there is none.
  private func refusal(of control: FrameControl) -> PredictedDifference? {
    let (index, frames) = (control.index, model.rules.frames)
    let isWhole = control.rect == PixelRect(image.canvasSize)
    if index == 0 {
      if model.refusesWrongChecksums, let chunk = structure.wrongChecksum {
        return .nothing(frames, "the checksum of \(chunk)")
      }
      if model.countsStaticImage, image.staticImage != nil {
        return .differs(at: 0, frames, "the static image comes first")
      }
      if model.refusesOneBitGrey, structure.isGrey, structure.bitDepth == 1 {
        return .nothing(frames, "grey of one bit")
      }
      if model.needsWholeFirstFrame, !isWhole {
        return .nothing(frames, "the frame is \(control.rect)")
      }
      if structure.bitDepth == 16 {
        return .unpredicted(from: 0, .colour, "16 bits per channel, rounded to 8")
      }
      if structure.isKeyed, structure.bitDepth < 8 {
        return .unpredicted(from: 0, .colour, "a transparent grey of less than 8 bits")
      }
    }
    if model.stopsAtChunkBehindControl, structure.interruptedFrame == index {
      return .ends(at: index, frames, "another chunk before the frame's data")
    }
    if model.failsAtInterlacing, control.isInterlaced, index > 0 {
      return .differs(at: index, frames, "interlaced")
    }
    if model.misplacesSmallSamples, structure.bitDepth < 8, !isWhole {
      return .differs(at: index, frames, "\(structure.bitDepth) bits, \(control.rect)")
    }
    guard control.blend == .over, index > 0 else { return nil }
    if model.blendsKeyedGreyAsOpaque, structure.isKeyed, structure.isGrey {
      return .unpredicted(from: index, .blend, "a transparent grey")
    }
    if model.over == .roundingDown, !structure.hasAlpha, !structure.hasPalette {
      return .unpredicted(from: index, .blend, "blended over without alpha")
    }
    if model.over == .interpolating, structure.hasPalette, structure.hasAlpha {
      return .unpredicted(from: index, .blend, "palette entries with alpha")
    }
    return nil
  }

  private mutating func prepareDisposal(of control: FrameControl, isOver: Bool) {
    let isFirst = control.index == 0
    switch control.disposal {
    case .keep: disposal = (.empty, nil, false)
    case .previous where !isFirst:
      let isKept = model.forgetsPrevious && isOver
      disposal = (control.rect, isKept ? nil : canvas.pixels(in: control.rect), false)
    case .background, .previous: disposal = (control.rect, nil, true)
    }
  }

  private var blending: ModelCanvas.Blending {
    switch model.over {
    case .roundingDown: .formula(Self.roundingDown)
    case .interpolating: .formula(Self.interpolating)
    }
  }

  /// Blends by the compositing formula of the PNG specification, computed in integers. Divisions by 255 round to
  /// nearest, and the division by the resulting alpha rounds down.
  static func roundingDown(_ above: RGBA, _ below: RGBA) -> RGBA {
    if above.alpha == 255 { return above }
    if above.alpha == 0 { return below }
    let (over, under) = (Int(above.alpha), Int(below.alpha))
    let alpha = over + divided((255 - over) * under)
    func channel(_ above: UInt8, _ below: UInt8) -> UInt8 {
      if alpha == 0 { return 0 }
      if under == 255 {
        return UInt8(truncatingIfNeeded: divided(over * Int(above) + (255 - over) * Int(below)))
      }
      let sum = 255 * over * Int(above) + (255 - over) * under * Int(below)
      return UInt8(truncatingIfNeeded: sum / (255 * alpha))
    }
    return RGBA(
      red: channel(above.red, below.red), green: channel(above.green, below.green),
      blue: channel(above.blue, below.blue), alpha: UInt8(truncatingIfNeeded: alpha))
  }

  /// Returns `value` divided by 255, rounded to the nearest integer.
  private static func divided(_ value: Int) -> Int { ((value + 128) * 257) >> 16 }

  /// Interpolates each channel, including alpha, between the two pixels. The weight is the alpha of the upper pixel.
  static func interpolating(_ above: RGBA, _ below: RGBA) -> RGBA {
    let over = Int(above.alpha)
    func channel(_ above: UInt8, _ below: UInt8) -> UInt8 {
      let sum = over * Int(above) + (255 - over) * Int(below) + 128
      return UInt8(truncatingIfNeeded: ((sum >> 8) + sum) >> 8)
    }
    return RGBA(
      red: channel(above.red, below.red), green: channel(above.green, below.green),
      blue: channel(above.blue, below.blue), alpha: channel(above.alpha, below.alpha))
  }
}
