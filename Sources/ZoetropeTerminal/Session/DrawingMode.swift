package import ZoetropeFrames

/// A protocol for showing pictures in a terminal.
package enum GraphicsProtocol: String, Sendable, Hashable, CaseIterable {
  /// kitty's graphics protocol, with which changed parts are edited into the image on screen (`a=f`).
  case kittyEdits = "kitty"
  /// kitty's graphics protocol without edits, using two alternating images.
  case kittyImages = "kitty-images"
  /// The protocol for inline images of iTerm2.
  case iterm2
  /// Sixel graphics.
  case sixel
  /// Characters, which every terminal can show.
  case cells
}

/// A way to draw pictures in a terminal.
///
/// This type is not an enum, so that later releases can add modes.
public struct DrawingMode: Sendable, Hashable, CustomStringConvertible {
  package enum Kind: Sendable, Hashable {
    /// Graphics of a protocol. ``GraphicsProtocol/cells`` stands for the best characters that the terminal can show.
    case graphics(GraphicsProtocol)
    /// Block characters with colours.
    case blocks(CellGlyphs)
    /// Characters that show pictures by their shapes, with or without colours.
    case dots(DotGlyphs)
  }

  package let kind: Kind

  package static func graphics(_ graphics: GraphicsProtocol) -> DrawingMode {
    DrawingMode(kind: .graphics(graphics))
  }

  package static func blocks(_ glyphs: CellGlyphs) -> DrawingMode {
    DrawingMode(kind: .blocks(glyphs))
  }

  package static func dots(_ glyphs: DotGlyphs) -> DrawingMode { DrawingMode(kind: .dots(glyphs)) }

  private init(kind: Kind) { self.kind = kind }

  /// kitty's graphics protocol, with which changed parts are edited into the image on screen. In a terminal that did not
  /// confirm that it supports edits, two alternating images are used instead.
  public static let kitty = graphics(.kittyEdits)
  /// The protocol for inline images of iTerm2.
  public static let iterm2 = graphics(.iterm2)
  /// Sixel graphics.
  public static let sixel = graphics(.sixel)
  /// Coloured characters. The mode uses the best characters that the terminal can show.
  public static let cells = graphics(.cells)

  /// All modes, from the best to the simplest.
  public static let all: [DrawingMode] =
    GraphicsProtocol.allCases.filter { $0 != .cells }.map { .graphics($0) }
    + CellGlyphs.allCases.reversed().map { .blocks($0) } + DotGlyphs.allCases.map { .dots($0) }

  /// The name of the mode, such as `kitty`, `sixel`, `fine` or `ascii`.
  public var name: String {
    switch kind {
    case .graphics(let graphics): graphics.rawValue
    case .blocks(let glyphs): glyphs.rawValue
    case .dots(let glyphs): glyphs.rawValue
    }
  }

  /// The same as ``name``.
  public var description: String { name }

  /// Creates the mode with the given name, which may also be a name that other programs use for the mode. Returns nil
  /// if the name is unknown.
  public init?(name: String) {
    let others: [String: DrawingMode] = [
      "cells": .graphics(.cells), "quad": .blocks(.fine), "sextant": .blocks(.sextants),
      "octant": .blocks(.octants), "kitty-anim": .graphics(.kittyEdits), "none": .dots(.quadrants),
    ]
    guard let mode = Self.all.first(where: { $0.name == name }) ?? others[name] else { return nil }
    self = mode
  }

  /// Creates the best mode for a terminal: graphics if possible, otherwise block characters, otherwise the shapes of
  /// characters.
  public init(best capabilities: TerminalCapabilities) {
    if capabilities.isDumb {
      self = .dots(.ascii)
    } else if capabilities.bestProtocol != .cells {
      self = .graphics(capabilities.bestProtocol)
    } else if !capabilities.hasUTF8 {
      self = .dots(.ascii)
    } else if capabilities.colors == .none {
      self = .dots(.quadrants)
    } else {
      self = .blocks(capabilities.bestGlyphs)
    }
  }

  /// Returns this mode or, if it uses edits that the terminal did not confirm, kitty's graphics protocol without edits.
  package func confirmed(by capabilities: TerminalCapabilities) -> DrawingMode {
    self == .kitty && !capabilities.hasKittyEdits ? .graphics(.kittyImages) : self
  }

  /// Whether pictures are drawn as graphics instead of characters.
  package var usesGraphics: Bool {
    if case .graphics(let graphics) = kind { graphics != .cells } else { false }
  }

  /// Returns the way in which graphics of this mode pass through a multiplexer. This is `requested`, or else the way of
  /// the multiplexer in which the program runs. Characters pass through unchanged.
  package func passthrough(
    _ requested: Passthrough?, on capabilities: TerminalCapabilities
  ) -> Passthrough {
    guard usesGraphics else { return .none }
    if let requested { return requested }
    // A multiplexer that reports support for sixels draws them itself.
    if self == .sixel, capabilities.hasSixel { return .none }
    return capabilities.multiplexer
  }

  /// Returns an encoder that draws in this mode. On a terminal without colours, quadrants replace block characters.
  ///
  /// - Parameters:
  ///   - layout: The place of the pictures on the screen.
  ///   - screen: The size of the terminal's screen.
  ///   - pictureSize: The size of the pictures to encode.
  ///   - capabilities: The capabilities of the terminal.
  ///   - imageID: The id of the image in kitty's protocol. The next higher id may be used as well. Default: 4711.
  ///   - passthrough: The way in which sequences pass through a multiplexer. Default: ``Passthrough/none``.
  ///   - options: The encoding options.
  package func encoder(
    layout: FrameLayout, screen: ScreenSize, pictureSize: PixelSize,
    capabilities: TerminalCapabilities, imageID: Int = 4711, passthrough: Passthrough = .none,
    options: EncodingOptions = EncodingOptions()
  ) -> any FrameEncoding {
    switch kind {
    case .graphics(.kittyEdits), .graphics(.kittyImages):
      return KittyEncoder(
        area: layout.area, pictureSize: pictureSize, crop: layout.crop,
        method: self == .graphics(.kittyEdits) ? .edits : .twoImages, imageID: imageID,
        shownSize: shownSize(layout, screen, options), passthrough: passthrough, options: options)
    case .graphics(.iterm2):
      return ITerm2Encoder(
        area: layout.area, pictureSize: pictureSize, crop: layout.crop,
        // iTerm2 counts in points, and a point may be two pixels wide and high.
        shownSize: shownSize(layout, screen, options, scale: 2), passthrough: passthrough,
        options: options)
    case .graphics(.sixel):
      return SixelEncoder(
        area: layout.area, screen: screen, imageSize: layout.imageSize, crop: layout.crop,
        registerCount: capabilities.sixelRegisterCount,
        keepsRegisters: capabilities.keepsSixelRegisters, passthrough: passthrough,
        options: options)
    case .graphics(.cells):
      if !capabilities.hasUTF8 { return dots(.ascii, layout, screen, capabilities, options) }
      return blocks(capabilities.bestGlyphs, layout, screen, capabilities, options)
    case .blocks(let glyphs):
      return blocks(glyphs, layout, screen, capabilities, options)
    case .dots(let glyphs):
      return dots(glyphs, layout, screen, capabilities, options)
    }
  }

  /// Returns the size at which pictures are shown, in the terminal's pixels, or nil if the size of a cell is not known.
  /// With a filter, the size is exactly that of the picture. Without a filter, the size is that of the cells, because
  /// the terminal enlarges the picture to this size.
  private func shownSize(
    _ layout: FrameLayout, _ screen: ScreenSize, _ options: EncodingOptions, scale: Int = 1
  ) -> PixelSize? {
    guard screen.isCellKnown else { return nil }
    if options.filter != nil { return layout.imageSize }
    return PixelSize(
      width: layout.area.columns * screen.cell.width * scale,
      height: layout.area.rows * screen.cell.height * scale)
  }

  /// Returns the size, in the terminal's pixels, of the smallest square that this mode can draw. Pixel art is enlarged
  /// in units of this size. The result is nil if the mode draws shapes, which have no such square.
  package func grid(cell: PixelSize) -> (width: Double, height: Double)? {
    switch kind {
    case .graphics(.cells), .blocks: (Double(cell.width), Double(cell.height) / 2)
    case .graphics: (1, 1)
    case .dots: nil
    }
  }

  /// Returns the part of `room` that a picture in this mode may cover. The part is limited to what can be encoded in a
  /// short time, regardless of the size that the terminal reports. It is in the middle of `room` if `isCentered` is
  /// true, and otherwise at the top left.
  package func usable(
    _ room: CellRect, on screen: ScreenSize, passthrough: Passthrough, isCentered: Bool
  ) -> CellRect {
    var limit = (columns: FrameLayout.longestSide, rows: FrameLayout.longestSide)
    var room = room
    switch kind {
    case .graphics(.kittyEdits), .graphics(.kittyImages):
      if passthrough == .tmux {
        limit = (KittyEncoder.placeholderLimit, KittyEncoder.placeholderLimit)
      }
    case .graphics(.sixel):
      room.rows = SixelEncoder.rowCount(of: room, on: screen)
      limit.columns = min(limit.columns, SixelEncoder.longestSide / screen.cell.width)
      let width = min(room.columns, limit.columns) * screen.cell.width
      let height = min(SixelEncoder.longestSide, SixelEncoder.largestArea / max(width, 1))
      limit.rows = min(limit.rows, max(height / screen.cell.height, 1))
    default: break
    }
    let columns = min(room.columns, limit.columns)
    let rows = min(room.rows, limit.rows)
    if isCentered {
      room.column += (room.columns - columns) / 2
      room.row += (room.rows - rows) / 2
    }
    (room.columns, room.rows) = (columns, rows)
    return room
  }

  private func blocks(
    _ glyphs: CellGlyphs, _ layout: FrameLayout, _ screen: ScreenSize,
    _ capabilities: TerminalCapabilities, _ options: EncodingOptions
  ) -> any FrameEncoding {
    if capabilities.colors == .none {
      return dots(.quadrants, layout, screen, capabilities, options)
    }
    return CellEncoder(
      area: layout.area, screen: screen, crop: layout.crop, glyphs: glyphs,
      colors: capabilities.colors, options: options)
  }

  private func dots(
    _ glyphs: DotGlyphs, _ layout: FrameLayout, _ screen: ScreenSize,
    _ capabilities: TerminalCapabilities, _ options: EncodingOptions
  ) -> any FrameEncoding {
    let behind = capabilities.background ?? TerminalColor(red: 0, green: 0, blue: 0)
    let light = Int(behind.red) * 2 + Int(behind.green) * 7 + Int(behind.blue)
    return DotEncoder(
      area: layout.area, screen: screen, crop: layout.crop, glyphs: glyphs,
      colors: capabilities.colors, isDarkOnLight: light > 1275, options: options)
  }
}
