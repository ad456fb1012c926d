import Zoetrope
import ZoetropeTerminal

/// The place where pictures are drawn, and the way in which they are drawn.
///
/// A stage is a value that draws nothing itself. ``Painter`` uses it to convert pictures to bytes.
struct Stage: Sendable {
  var capabilities: TerminalCapabilities
  var screen: ScreenSize
  /// The cells that the picture may use.
  var room: CellRect
  var mode: DrawingMode
  var fit: PictureFit
  var backdrop: PlayerBackdrop
  private(set) var viewport = Viewport()
  /// Whether the file counts as pixel art, or nil before its first picture is drawn.
  private(set) var isPixelArt: Bool?
  /// The layout and the size of the picture that was drawn last, or nil before a picture is drawn.
  private(set) var shown: (layout: FrameLayout, size: PixelSize)?
  /// The way in which frames are shown, such as their stored pixels or their changed area.
  var view = FrameView()
  /// Whether the player uses the whole screen, so that it may clear all of it.
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

  /// The way in which graphics of the current mode are passed through the multiplexer.
  var passthrough: Passthrough { passthrough(for: mode) }

  /// Returns the way in which graphics of `mode` are passed through the multiplexer.
  func passthrough(for mode: DrawingMode) -> Passthrough {
    mode.passthrough(requestedPassthrough, on: capabilities)
  }

  /// Returns the options of an encoder for pictures that are scaled with `filter`.
  func encodingOptions(filter: ScalingFilter?) -> EncodingOptions {
    var options = isExact ? .exact : EncodingOptions()
    options.backdrop = backdrop.backdrop ?? capabilities.backdrop
    options.keepsTransparency = backdrop == .terminal
    options.filter = filter
    return options
  }

  /// Returns the layout of a picture of `size`, and the filter that scales it.
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

  /// Determines the place of a picture that is about to be drawn. The first picture of a file also decides whether the
  /// file counts as pixel art.
  mutating func place(_ bitmap: Bitmap) {
    if isPixelArt == nil {
      isPixelArt = PixelArt.isLikely(endingWithoutMemory(try bitmap.converted(to: .rgba8)))
    }
    shown = (placement(of: bitmap.size).layout, bitmap.size)
  }

  /// Whether the next picture will cover every pixel of the picture on the screen.
  var keepsPlace: Bool {
    guard let shown else { return false }
    let next = placement(of: shown.size).layout
    return next.area == shown.layout.area && next.imageSize == shown.layout.imageSize
  }

  /// Prepares for another file, which is shown without zoom.
  mutating func forgetFile() {
    viewport = Viewport()
    isPixelArt = nil
    shown = nil
  }

  /// Multiplies the zoom by `factor`, or resets it if `factor` is 0. If `cell` is not nil, the part of the picture in
  /// that cell stays in place. Returns false if nothing changes.
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

  /// Moves the visible part by fractions of its width and height. Returns false if it cannot move any further.
  mutating func pan(x: Double, y: Double) -> Bool {
    guard let shown else { return false }
    return viewport.pan(x: x, y: y, size: shown.size, layout: shown.layout)
  }

  /// Moves the picture by a number of cells. Returns false if it cannot move any further.
  mutating func drag(columns: Int, rows: Int) -> Bool {
    guard let area = shown?.layout.area else { return false }
    return pan(
      x: -Double(columns) / Double(max(area.columns, 1)),
      y: -Double(rows) / Double(max(area.rows, 1)))
  }

  /// Selects the next backdrop of ``PlayerBackdrop/cycle``.
  mutating func cycleBackdrop() {
    let all = PlayerBackdrop.cycle
    backdrop = all[((all.firstIndex(of: backdrop) ?? 0) + 1) % all.count]
  }

  /// Appends `text` to the bytes of a frame. If the frame is a synchronized update, `text` becomes part of the update.
  func append(_ text: [UInt8], to output: inout [UInt8]) {
    let close = Array("\u{1B}[?2026l".utf8)
    let isMarked = capabilities.hasSynchronizedOutput && output.suffix(close.count) == close[...]
    if isMarked { output.removeLast(close.count) }
    output += text
    if isMarked { output += close }
  }

  /// Makes `output` a single synchronized update, if the terminal supports synchronized output.
  func synchronize(_ output: inout [UInt8]) {
    guard capabilities.hasSynchronizedOutput else { return }
    let close = Array("\u{1B}[?2026l".utf8)
    output.insert(contentsOf: "\u{1B}[?2026h".utf8, at: 0)
    if output.suffix(close.count) != close[...] { output += close }
  }

  /// Returns the modes that the terminal supports, and the mode `wanted` even if the terminal does not report support
  /// for it. Only edits of kitty images always need the terminal's confirmation.
  func modes(including wanted: DrawingMode?) -> [DrawingMode] {
    let wanted = wanted?.confirmed(by: capabilities)
    return DrawingMode.all.filter { mode in
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
