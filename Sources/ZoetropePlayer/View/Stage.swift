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
  var fit: PictureFit
  private(set) var viewport = Viewport()
  /// Whether the file is taken for pixel art; nil until its first picture is drawn.
  var isPixelArt: Bool?
  /// Where the picture is, and its size; nil before it is drawn.
  private(set) var shown: (layout: FrameLayout, size: PixelSize)?
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
    fit = PictureFit(fit: settings.fit, filter: settings.filter)
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
  /// `changed` is where it may differ from that; nil when unknown. Nil once `isWanted`, asked while a large
  /// picture is encoded, returns false.
  mutating func draw(
    _ bitmap: Bitmap, index: Int, changed: PixelRect?, while isWanted: () -> Bool = { true }
  ) -> [UInt8]? {
    let picture = bitmap.converted(to: .rgba8)
    let isPixelArt = self.isPixelArt ?? PixelArt.isLikely(picture)
    self.isPixelArt = isPixelArt
    var writer =
      self.writer
      ?? FrameWriter(
        encoder: encoder(for: picture.size),
        isSynchronized: capabilities.hasSynchronizedOutput)
    var output: [UInt8] = []
    // The cache's keys do not cover what is drawn over a picture.
    guard view.isPlain else {
      cache.leave()
      let isWhole = writer.frame(picture, changed: nil, into: &output, while: isWanted)
      self.writer = writer
      return isWhole ? output : nil
    }
    if let kept = cache.bytes(forFrame: index, showing: picture, writer: &writer) {
      output = kept
    } else if writer.frame(picture, changed: changed, into: &output, while: isWanted) {
      cache.insert(output, forFrame: index, writer: writer)
    } else {
      self.writer = writer
      return nil
    }
    self.writer = writer
    return output
  }

  /// The bytes that remove the picture; the next one is sent whole by a new encoder.
  mutating func clear() -> [UInt8] {
    var output = removePicture()
    output += Array("\u{1B}[m\u{1B}[\(ownsScreen ? 1 : room.row + 1)H\u{1B}[J".utf8)
    return output
  }

  /// Whether the next picture covers every pixel of the one on screen.
  var keepsPlace: Bool {
    guard let shown else { return false }
    let next = placement(of: shown.size, in: viewport).layout
    return next.area == shown.layout.area && next.imageSize == shown.layout.imageSize
  }

  /// As ``clear()``, but erases no cells.
  mutating func removePicture() -> [UInt8] {
    var output: [UInt8] = []
    if var writer {
      writer.encoder.remove(pen: &writer.pen, into: &output)
      self.writer = nil
    }
    cache.removeAll()
    return output
  }

  /// Prepares for another file, which is seen whole.
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

  /// Where a picture of `size` goes in a viewport, and the filter that scales it.
  private func placement(
    of size: PixelSize, in viewport: Viewport
  ) -> (layout: FrameLayout, filter: ScalingFilter?) {
    let room = mode.usable(
      room, on: screen, passthrough: passthrough(for: mode), isCentered: ownsScreen)
    return fit.layout(
      of: size, isPixelArt: isPixelArt ?? false, in: room, screen: screen, mode: mode,
      isCentered: ownsScreen, viewport: viewport)
  }

  private mutating func encoder(for size: PixelSize) -> any FrameEncoding {
    let (layout, filter) = placement(of: size, in: viewport)
    shown = (layout, size)
    var options = options
    options.filter = filter
    return mode.encoder(
      layout: layout, screen: screen, pictureSize: size, capabilities: capabilities,
      imageID: imageID, passthrough: passthrough(for: mode), options: options)
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
