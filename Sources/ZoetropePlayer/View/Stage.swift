import Zoetrope
import ZoetropeTerminal

/// Where pictures are drawn, and how.
///
/// A value that draws nothing itself: ``Painter`` uses it to turn pictures into bytes.
struct Stage: Sendable {
  var capabilities: TerminalCapabilities
  var screen: ScreenSize
  /// The cells available to the picture.
  var room: CellRect
  var mode: DrawingMode
  var fit: PictureFit
  var backdrop: PlayerBackdrop
  private(set) var viewport = Viewport()
  /// Whether the file counts as pixel art; nil until its first picture is drawn.
  private(set) var isPixelArt: Bool?
  /// Where the picture was last drawn, and its size; nil before it is drawn.
  private(set) var shown: (layout: FrameLayout, size: PixelSize)?
  /// What is drawn of each frame.
  var view = FrameView()
  /// Whether the whole screen may be cleared.
  let ownsScreen: Bool
  private let isExact: Bool
  private let requestedPassthrough: Passthrough?

  init(
    capabilities: TerminalCapabilities, settings: PlayerSettings, mode: DrawingMode,
    screen: ScreenSize, room: CellRect
  ) {
    self.capabilities = capabilities
    self.mode = mode
    self.screen = screen
    self.room = room
    fit = PictureFit(fit: settings.fit, filter: settings.filter)
    backdrop = settings.backdrop
    ownsScreen = !settings.isInline
    isExact = settings.isExact
    requestedPassthrough = settings.passthrough
  }

  /// How graphics of the current mode pass through the multiplexer.
  var passthrough: Passthrough { passthrough(for: mode) }

  /// How graphics of `mode` pass through the multiplexer.
  func passthrough(for mode: DrawingMode) -> Passthrough {
    if let requestedPassthrough { return requestedPassthrough }
    guard case .graphics(let graphics) = mode.kind, graphics != .cells else { return .none }
    // A multiplexer that reports sixels draws them itself.
    if graphics == .sixel, capabilities.hasSixel { return .none }
    return capabilities.multiplexer
  }

  /// The options of an encoder for pictures that `filter` scales.
  func encodingOptions(filter: ScalingFilter?) -> EncodingOptions {
    var options = isExact ? .exact : EncodingOptions()
    options.backdrop = backdrop.backdrop ?? capabilities.backdrop
    options.keepsTransparency = backdrop == .terminal
    options.filter = filter
    return options
  }

  /// Where a picture of `size` goes, and the filter that scales it.
  func placement(of size: PixelSize) -> (layout: FrameLayout, filter: ScalingFilter?) {
    placement(of: size, in: viewport)
  }

  private func placement(
    of size: PixelSize, in viewport: Viewport
  ) -> (layout: FrameLayout, filter: ScalingFilter?) {
    let room = mode.usable(
      room, on: screen, passthrough: passthrough, isCentered: ownsScreen)
    return fit.layout(
      of: size, isPixelArt: isPixelArt ?? false, in: room, screen: screen, mode: mode,
      isCentered: ownsScreen, viewport: viewport)
  }

  /// Places a picture that is about to be drawn. The first one of a file decides whether it is pixel art.
  mutating func place(_ bitmap: Bitmap) {
    if isPixelArt == nil {
      isPixelArt = PixelArt.isLikely(endingWithoutMemory(try bitmap.converted(to: .rgba8)))
    }
    shown = (placement(of: bitmap.size).layout, bitmap.size)
  }

  /// Whether the next picture covers every pixel of the one on screen.
  var keepsPlace: Bool {
    guard let shown else { return false }
    let next = placement(of: shown.size).layout
    return next.area == shown.layout.area && next.imageSize == shown.layout.imageSize
  }

  /// Prepares for another file, which is shown whole.
  mutating func forgetFile() {
    viewport = Viewport()
    isPixelArt = nil
    shown = nil
  }

  /// Changes what is visible; returns false when that changes nothing.
  mutating func zoom(by factor: Double, at cell: (column: Int, row: Int)? = nil) -> Bool {
    let before = viewport
    if let cell, let size = shown?.size {
      var changed = viewport
      changed.zoom(by: factor, atColumn: cell.column, row: cell.row, size: size) {
        placement(of: size, in: $0).layout
      }
      viewport = changed
    } else {
      viewport.zoom(by: factor)
    }
    return viewport != before
  }

  /// Moves the visible part by fractions of its size; returns false at the edge.
  mutating func pan(x: Double, y: Double) -> Bool {
    guard let shown else { return false }
    return viewport.pan(x: x, y: y, size: shown.size, layout: shown.layout)
  }

  /// Moves the picture by cells; returns false at the edge.
  mutating func drag(columns: Int, rows: Int) -> Bool {
    guard let area = shown?.layout.area else { return false }
    return pan(
      x: -Double(columns) / Double(max(area.columns, 1)),
      y: -Double(rows) / Double(max(area.rows, 1)))
  }

  /// Selects the next of ``PlayerBackdrop/cycle``.
  mutating func cycleBackdrop() {
    let all = PlayerBackdrop.cycle
    backdrop = all[((all.firstIndex(of: backdrop) ?? 0) + 1) % all.count]
  }

  /// Appends `text` to a frame's bytes, inside synchronized output.
  func append(_ text: [UInt8], to output: inout [UInt8]) {
    let close = Array("\u{1B}[?2026l".utf8)
    let isMarked = capabilities.hasSynchronizedOutput && output.suffix(close.count) == close[...]
    if isMarked { output.removeLast(close.count) }
    output += text
    if isMarked { output += close }
  }

  /// Makes `output` a single synchronized update, if the terminal has them.
  func synchronize(_ output: inout [UInt8]) {
    guard capabilities.hasSynchronizedOutput else { return }
    let close = Array("\u{1B}[?2026l".utf8)
    output.insert(contentsOf: "\u{1B}[?2026h".utf8, at: 0)
    if output.suffix(close.count) != close[...] { output += close }
  }

  /// The modes that the terminal supports, and the one that was requested.
  func modes(including wanted: DrawingMode?) -> [DrawingMode] {
    DrawingMode.all.filter { mode in
      if mode == wanted { return true }
      return switch mode.kind {
      case .graphics(.kittyEdits): capabilities.hasKittyEdits
      case .graphics(.kittyImages): capabilities.hasKittyGraphics && !capabilities.hasKittyEdits
      case .graphics(.iterm2): capabilities.hasITerm2Images
      case .graphics(.sixel): capabilities.hasSixel
      case .graphics(.cells): false
      case .blocks(.sextants): capabilities.hasUTF8 && capabilities.drawsSextants
      case .blocks(.octants): capabilities.hasUTF8 && capabilities.drawsOctants
      case .blocks: capabilities.hasUTF8 && capabilities.colors != .none
      case .dots(let glyphs): capabilities.hasUTF8 || glyphs == .ascii
      }
    }
  }
}
