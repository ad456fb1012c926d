import Zoetrope
import ZoetropeTerminal

/// Where and how pictures are drawn, and the bytes that draw them; it writes nothing itself.
///
/// A change of place or drawing mode takes a new encoder, whose first picture is sent whole.
struct Stage {
  var capabilities: TerminalCapabilities
  /// The first of the two ids of kitty's images; see ``newImageID()``.
  private(set) var imageID = Self.newImageID()
  private let wantedPassthrough: Passthrough?
  var options: EncodingOptions
  var screen: ScreenSize
  /// The cells available to the picture.
  var room: CellRect
  var mode: DrawingMode
  var fit: FrameLayout.Fit
  var zoom = 1.0
  /// Whether the whole screen may be cleared.
  let ownsScreen: Bool
  /// What is drawn of each frame.
  var view = FrameView()
  private var writer: FrameWriter?
  private var cache = DeltaCache()

  init(
    capabilities: TerminalCapabilities, settings: PlayerSettings, mode: DrawingMode,
    screen: ScreenSize, room: CellRect
  ) {
    self.capabilities = capabilities
    self.mode = mode
    self.screen = screen
    self.room = room
    wantedPassthrough = settings.passthrough
    fit = settings.fit
    ownsScreen = !settings.isInline
    options = settings.isExact ? .exact : EncodingOptions()
    options.backdrop = settings.backdrop.backdrop ?? capabilities.backdrop
    options.keepsTransparency = settings.backdrop == .terminal
  }

  /// A random even id.
  ///
  /// An inline picture is replaced by the next one with the same id, even by another run or another
  /// program. Inside tmux ids have 24 bits.
  private static func newImageID() -> Int { Int.random(in: 0x8000...0x7F_FFFF) * 2 }

  /// The ids of kitty's images.
  var imageIDs: [Int] { [imageID, imageID + 1] }

  /// How graphics of `mode` pass through the multiplexer.
  func passthrough(for mode: DrawingMode) -> Passthrough {
    if let wantedPassthrough { return wantedPassthrough }
    guard case .graphics(let graphics) = mode, graphics != .cells else { return .none }
    // A multiplexer that reports sixels draws them itself.
    if graphics == .sixel, capabilities.hasSixel { return .none }
    return capabilities.multiplexer
  }

  /// The bytes that draw frame `index`: only what changed since the previous picture.
  ///
  /// `changed` is where it may differ from that; nil when unknown.
  mutating func draw(_ bitmap: Bitmap, index: Int, changed: PixelRect?) -> [UInt8] {
    let picture = bitmap.converted(to: .rgba8)
    var writer =
      self.writer
      ?? FrameWriter(
        encoder: encoder(for: picture.size),
        isSynchronized: capabilities.hasSynchronizedOutput)
    var output: [UInt8] = []
    // The cache's keys do not cover what is drawn over a picture.
    guard view.isPlain else {
      cache.leave()
      writer.frame(picture, changed: nil, into: &output)
      self.writer = writer
      return output
    }
    if let kept = cache.bytes(forFrame: index, showing: picture, writer: &writer) {
      output = kept
    } else {
      writer.frame(picture, changed: changed, into: &output)
      cache.insert(output, forFrame: index, writer: writer)
    }
    self.writer = writer
    return output
  }

  /// The bytes that remove the picture; the next one is sent whole by a new encoder.
  mutating func clear() -> [UInt8] {
    var output: [UInt8] = []
    if var writer {
      writer.encoder.remove(pen: &writer.pen, into: &output)
      self.writer = nil
    }
    cache.removeAll()
    output += Array("\u{1B}[m\u{1B}[\(ownsScreen ? 1 : room.row + 1)H\u{1B}[J".utf8)
    return output
  }

  /// Leaves the picture in place and draws the next one elsewhere.
  mutating func leavePicture(for room: CellRect) {
    writer = nil
    cache.removeAll()
    imageID = Self.newImageID()
    self.room = room
  }

  /// Appends `text` to a frame's bytes, inside synchronized output.
  func append(_ text: [UInt8], to output: inout [UInt8]) {
    let close = Array("\u{1B}[?2026l".utf8)
    let isMarked = capabilities.hasSynchronizedOutput && output.suffix(close.count) == close[...]
    if isMarked { output.removeLast(close.count) }
    output += text
    if isMarked { output += close }
  }

  private func encoder(for size: PixelSize) -> any FrameEncoding {
    var room = room
    let passthrough = passthrough(for: mode)
    if mode == .graphics(.kittyEdits) || mode == .graphics(.kittyImages), passthrough == .tmux {
      room = Self.limit(room, to: KittyEncoder.placeholderLimit)
    }
    if mode == .graphics(.sixel) { room.rows = SixelEncoder.rowCount(of: room, on: screen) }
    let layout = FrameLayout(
      of: size, in: room, screen: screen, fit: fit, isCentered: ownsScreen, zoom: zoom)
    return mode.encoder(
      layout: layout, screen: screen, pictureSize: size, capabilities: capabilities,
      imageID: imageID, passthrough: passthrough, options: options)
  }

  /// The middle of `room`, at most `limit` columns wide and rows high.
  private static func limit(_ room: CellRect, to limit: Int) -> CellRect {
    let columns = min(room.columns, limit)
    let rows = min(room.rows, limit)
    return CellRect(
      column: room.column + (room.columns - columns) / 2,
      row: room.row + (room.rows - rows) / 2, columns: columns, rows: rows)
  }

  /// The modes that the terminal supports, and the one that was requested.
  func modes(including wanted: DrawingMode?) -> [DrawingMode] {
    DrawingMode.all.filter { mode in
      if mode == wanted { return true }
      return switch mode {
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

/// What is shown of a frame: the composited picture, or how it is made.
struct FrameView {
  /// Whether the frame's own pixels are shown instead of the canvas.
  var isStored = false
  /// Whether the area that the frame changed is outlined.
  var isOutlined = false

  /// Whether only the picture is shown.
  var isPlain: Bool { !isStored && !isOutlined }

  /// The picture to show for `bitmap`, frame `index` of `image`, which changed `changed`.
  ///
  /// A frame whose stored pixels cannot be decoded is shown composited.
  func picture(
    _ bitmap: Bitmap, index: Int, of image: AnimatedImage, changed: PixelRect
  ) -> Bitmap {
    var result = bitmap.converted(to: .rgba8)
    if isStored {
      let rect = image.frames[index].rect
      guard let stored = try? StoredFrameReader(image).frame(at: index) else { return result }
      result = Self.place(stored.bitmap.converted(to: .rgba8), at: rect, on: bitmap.size)
    }
    return isOutlined
      ? Self.outline(isStored ? image.frames[index].rect : changed, on: result) : result
  }

  /// The status line's note on `frame`; nil in the plain view.
  func note(of frame: FrameControl) -> String? {
    guard !isPlain else { return nil }
    return "\(frame.rect) \(frame.disposal) \(frame.blend)"
  }

  private static func place(_ picture: Bitmap, at rect: PixelRect, on size: PixelSize) -> Bitmap {
    Bitmap(size: size) { y, bytes in
      let row = y - rect.y
      guard row >= 0, row < picture.height else { return }
      let source = picture.pixels(row: row)
      for x in 0..<picture.width where (0..<size.width).contains(rect.x + x) {
        bytes.store(source[x], x: rect.x + x)
      }
    }
  }

  /// Outlines `rect` in magenta, wide enough to be visible.
  private static func outline(_ rect: PixelRect, on picture: Bitmap) -> Bitmap {
    let inside = rect.intersection(PixelRect(picture.size))
    let width = max(1, max(picture.width, picture.height) / 160)
    return Bitmap(size: picture.size) { y, bytes in
      let source = picture.pixels(row: y)
      for x in 0..<picture.width { bytes.store(source[x], x: x) }
      guard y >= inside.y, y < inside.maxY else { return }
      let isEdge = y < inside.y + width || y >= inside.maxY - width
      for x in inside.x..<max(inside.x, inside.maxX)
      where isEdge || x < inside.x + width || x >= inside.maxX - width {
        bytes.store(RGBA(red: 255, green: 0, blue: 255, alpha: 255), x: x)
      }
    }
  }
}

extension MutableRawSpan {
  /// Stores a pixel of a row of straight RGBA.
  fileprivate mutating func store(_ pixel: RGBA, x: Int) {
    storeBytes(of: pixel.red, toByteOffset: x * 4, as: UInt8.self)
    storeBytes(of: pixel.green, toByteOffset: x * 4 + 1, as: UInt8.self)
    storeBytes(of: pixel.blue, toByteOffset: x * 4 + 2, as: UInt8.self)
    storeBytes(of: pixel.alpha, toByteOffset: x * 4 + 3, as: UInt8.self)
  }
}
