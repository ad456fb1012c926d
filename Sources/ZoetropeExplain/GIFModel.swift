import ZoetropeFrames

/// The way in which a program composites a GIF, described by the points in which programs differ.
struct GIFModel: Hashable, Sendable {
  /// A colour that depends on the file and on a frame.
  enum Fill: Hashable, Sendable {
    case transparent
    /// Transparent if the frame has a transparent index; otherwise the background colour.
    case background
    /// Like ``background``, but the background index refers to the palette of the frame. An index past the end of that
    /// palette gives its first colour.
    case ownBackground
    /// Transparent if the frame has a transparent index; otherwise the first colour of the frame's palette.
    case firstColor
    /// Like ``background``, but white if the frame has its own palette. A background index past the end of the global
    /// palette gives the last colour of that palette.
    case nearestBackground
  }

  /// The meaning of a stored disposal method.
  enum Disposal: Hashable, Sendable {
    case keep, background, previous
    /// The disposal that was applied to the previous frame.
    case inherited
  }

  /// How the size of the canvas is determined.
  enum Growth: Hashable, Sendable {
    case never, everyFrame
    /// The canvas has the size of the screen, but a side of length 0 extends to the right or bottom edge of the first
    /// frame.
    case emptyScreen
  }

  /// The initial content of the canvas.
  var uncovered: Fill
  /// The content of a frame's rectangle after the disposal *background*.
  var cleared: Fill
  /// The meanings of the disposal methods 0 to 7.
  var disposals: [Disposal]
  var growth: Growth
  /// Whether the canvas stays opaque if the first frame has no transparent index.
  var losesAlpha = false
  /// Whether the disposal *previous* has no effect on a first frame without a transparent index.
  var keepsFirst = false
  /// Whether a frame without pixels ends the animation.
  var stopsAtEmptyFrame = false
  /// Whether a frame that begins outside the screen is dropped.
  var dropsOutside = false
  /// Whether a frame without any palette is refused.
  var needsPalette = false
  /// Whether the bytes after an extension without blocks are misread.
  var misreadsEmptyExtension = false
  /// Whether a frame without a graphic control extension inherits the disposal method of the previous frame.
  var inheritsControl = false
  /// Whether damage anywhere, or a frame without pixels, makes the file yield no frames.
  var failsAsWhole = false
  let rules: Rules

  struct Rules: Hashable, Sendable {
    let canvas: Rule
    let dispose: Rule
    let frames: Rule
  }
}

/// A simulation that composites a GIF as a ``GIFModel`` describes, for comparison with this package's frames.
struct GIFSimulation {
  let model: GIFModel
  private let structure: GIFStructure
  private let canvas: ModelCanvas
  private let hasAlpha: Bool
  /// The disposal of the frame that was drawn last: the rectangle and the effect.
  private var disposal: (rect: PixelRect, effect: Effect) = (.empty, .keep)
  private var lastMethod = GIFModel.Disposal.keep

  private enum Effect {
    case keep
    case fill(UInt32)
    case restore([UInt32])
  }

  /// Creates the initial canvas. In this package, the canvas of the GIF has the size `size`.
  init(_ model: GIFModel, of structure: GIFStructure, size: PixelSize) {
    self.model = model
    self.structure = structure
    let first = structure.frames.first
    hasAlpha = !model.losesAlpha || first?.transparentIndex != nil
    canvas = ModelCanvas(
      size: size, fill: first.map { Self.color(model.uncovered, $0, structure, true) } ?? 0)
  }

  private static func color(
    _ fill: GIFModel.Fill, _ frame: GIFStructure.Frame, _ structure: GIFStructure, _ hasAlpha: Bool
  ) -> UInt32 {
    if fill == .transparent { return 0 }
    guard frame.transparentIndex == nil else {
      return hasAlpha ? 0 : frame.transparentColor | 0xff00_0000
    }
    switch fill {
    case .transparent: return 0
    case .background: return structure.backgroundColor
    case .ownBackground:
      return frame.backgroundColor == 0 ? frame.firstColor : frame.backgroundColor
    case .firstColor: return frame.firstColor
    case .nearestBackground:
      return frame.hasOwnPalette ? 0xffff_ffff : structure.nearestBackgroundColor
    }
  }

  /// The difference that results if the program rejects the whole file, or nil if the program accepts it.
  private var refusal: PredictedDifference? {
    if structure.frames.contains(where: \.rect.isEmpty) {
      return .nothing(model.rules.frames, "a frame without pixels")
    }
    let isUnusual = structure.frames.contains(where: \.isUnusual)
    return isUnusual ? .unpredicted(from: 0, .damage, "an unusual code size") : nil
  }

  mutating func difference(
    at index: Int, stored: Bitmap?, shown: Bitmap, changed: [PixelRect]
  ) -> PredictedDifference? {
    let frame = structure.frames[index]
    if index == 0, model.failsAsWhole, let refusal { return refusal }
    if index == 0, model.growth == .emptyScreen {
      let size = PixelSize(
        width: structure.screen.width == 0 ? frame.rect.maxX : structure.screen.width,
        height: structure.screen.height == 0 ? frame.rect.maxY : structure.screen.height)
      if shown.size != size { return .differs(at: 0, model.rules.canvas, "the canvas is \(size)") }
    }
    if index == 0, model.growth == .never, shown.size != structure.screen {
      return .differs(at: 0, model.rules.canvas, "the screen is \(structure.screen)")
    }
    if model.growth == .everyFrame, !PixelRect(canvas.size).contains(frame.rect) {
      return .differs(at: index, model.rules.canvas, "the frame is \(frame.rect)")
    }
    if frame.isUnusual { return .unpredicted(from: index, .damage, "an unusual code size") }
    if model.needsPalette, !frame.hasPalette {
      return .differs(at: index, model.rules.frames, "no palette")
    }
    if frame.rect.isEmpty, model.stopsAtEmptyFrame {
      return .ends(at: index, model.rules.frames, "no pixels")
    }
    if model.misreadsEmptyExtension, structure.emptyExtension == index {
      return .ends(at: index, model.rules.frames, "an extension without blocks")
    }
    if model.dropsOutside, !frame.rect.isEmpty {
      if frame.rect.width > structure.screen.width || frame.rect.height > structure.screen.height {
        return .unpredicted(from: index, .canvas, "larger than the screen")
      }
      if frame.rect.x >= structure.screen.width || frame.rect.y >= structure.screen.height {
        return .differs(at: index, model.rules.frames, "outside the screen")
      }
    }
    if model.losesAlpha, index == 1, structure.isGreyRamp {
      return .unpredicted(from: index, .colour, "a palette of greys")
    }
    dispose()
    prepareDisposal(of: frame, isFirst: index == 0)
    if let stored { canvas.draw(stored, at: frame.rect, blending: .over) }
    guard let place = canvas.firstDifference(from: shown, in: changed) else { return nil }
    // No disposal precedes the first frame.
    return .differs(
      at: index, index == 0 ? model.rules.canvas : model.rules.dispose,
      "pixel \(place.x),\(place.y)")
  }

  private mutating func dispose() {
    switch disposal.effect {
    case .keep: break
    case .fill(let color): canvas.fill(disposal.rect, with: color)
    case .restore(let pixels): canvas.restore(pixels, in: disposal.rect)
    }
  }

  private mutating func prepareDisposal(of frame: GIFStructure.Frame, isFirst: Bool) {
    let stored = model.disposals[Int(frame.disposal & 7)]
    let isInherited = stored == .inherited || model.inheritsControl && !frame.hasControl
    let method = isInherited ? lastMethod : stored
    lastMethod = method
    let color = Self.color(model.cleared, frame, structure, hasAlpha)
    let effect: Effect
    switch method {
    case .keep, .inherited: effect = .keep
    case .background: effect = .fill(color)
    case .previous:
      if isFirst, model.keepsFirst {
        effect = frame.transparentIndex == nil ? .keep : .fill(0)
      } else {
        effect = .restore(canvas.pixels(in: frame.rect))
      }
    }
    disposal = (frame.rect, effect)
  }
}
