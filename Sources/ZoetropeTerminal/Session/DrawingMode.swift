package import ZoetropeFrames

/// A protocol for showing pictures.
package enum GraphicsProtocol: String, Sendable, Hashable, CaseIterable {
  /// kitty's protocol, editing the image on screen (`a=f`).
  case kittyEdits = "kitty"
  /// kitty's protocol without edits: two alternating images.
  case kittyImages = "kitty-images"
  /// iTerm2's inline images.
  case iterm2
  /// Sixels.
  case sixel
  /// Characters, which every terminal can show.
  case cells
}

/// A way to draw pictures.
///
/// Not an enum, so that later releases can add modes.
public struct DrawingMode: Sendable, Hashable, CustomStringConvertible {
  package enum Kind: Sendable, Hashable {
    /// A graphics protocol. ``GraphicsProtocol/cells`` means the best characters for the terminal.
    case graphics(GraphicsProtocol)
    /// Coloured block characters.
    case blocks(CellGlyphs)
    /// The shapes of characters, with or without colour.
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

  /// kitty's graphics protocol, editing the image on screen.
  public static let kitty = graphics(.kittyEdits)
  /// iTerm2's inline images.
  public static let iterm2 = graphics(.iterm2)
  /// Sixels.
  public static let sixel = graphics(.sixel)
  /// Coloured characters, the best ones for the terminal.
  public static let cells = graphics(.cells)

  /// Every mode, from the best to the simplest.
  public static let all: [DrawingMode] =
    GraphicsProtocol.allCases.filter { $0 != .cells }.map { .graphics($0) }
    + CellGlyphs.allCases.reversed().map { .blocks($0) } + DotGlyphs.allCases.map { .dots($0) }

  /// The mode's name, such as `kitty`, `sixel`, `fine` or `ascii`.
  public var name: String {
    switch kind {
    case .graphics(let graphics): graphics.rawValue
    case .blocks(let glyphs): glyphs.rawValue
    case .dots(let glyphs): glyphs.rawValue
    }
  }

  /// Same as ``name``.
  public var description: String { name }

  /// The mode with this name, or with a name that other programs use for it; nil for unknown names.
  public init?(name: String) {
    let others: [String: DrawingMode] = [
      "cells": .graphics(.cells), "quad": .blocks(.fine), "sextant": .blocks(.sextants),
      "octant": .blocks(.octants), "kitty-anim": .graphics(.kittyEdits), "none": .dots(.quadrants),
    ]
    guard let mode = Self.all.first(where: { $0.name == name }) ?? others[name] else { return nil }
    self = mode
  }

  /// The best mode for a terminal: graphics, else block characters, else plain shapes.
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

  /// Creates an encoder that draws in this mode. Block characters without colours become quadrants.
  ///
  /// - Parameters:
  ///   - layout: Where the picture goes.
  ///   - screen: The terminal's screen.
  ///   - pictureSize: The size of the pictures to encode.
  ///   - capabilities: The capabilities of the terminal.
  ///   - imageID: The id of kitty's image; the next one may be used as well. Default: 4711.
  ///   - passthrough: How sequences pass through a multiplexer. Default: unchanged.
  ///   - options: How pictures are encoded.
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
        // iTerm2 counts in points, each of which may be two pixels wide and high.
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

  /// The size of the picture in the terminal's pixels; nil when the size of a cell is only assumed. With a filter this
  /// is the exact size, otherwise that of the cells, to which the terminal enlarges the picture.
  private func shownSize(
    _ layout: FrameLayout, _ screen: ScreenSize, _ options: EncodingOptions, scale: Int = 1
  ) -> PixelSize? {
    guard screen.isCellKnown else { return nil }
    if options.filter != nil { return layout.imageSize }
    return PixelSize(
      width: layout.area.columns * screen.cell.width * scale,
      height: layout.area.rows * screen.cell.height * scale)
  }

  /// The size, in the terminal's pixels, of the smallest square that this mode can draw, in which
  /// pixel art is enlarged; nil for shapes, which have none.
  package func grid(cell: PixelSize) -> (width: Double, height: Double)? {
    switch kind {
    case .graphics(.cells), .blocks: (Double(cell.width), Double(cell.height) / 2)
    case .graphics: (1, 1)
    case .dots: nil
    }
  }

  /// The most columns and rows of a picture, in any mode.
  package static let longestSide = 1000
  /// The maximum width and height of a sixel picture, and the maximum number of its pixels: those of a screen.
  /// Terminals do not enlarge sixels, so the picture is as large as its cells, whatever the size of the file.
  static let longestSixelSide = 4096
  static let sixelArea = 3840 * 2160

  /// The part of `room` that a picture in this mode may cover: no more than can be encoded in a short time,
  /// however large the terminal claims to be. It is in the middle of `room`, or at its top left.
  package func usable(
    _ room: CellRect, on screen: ScreenSize, passthrough: Passthrough, isCentered: Bool
  ) -> CellRect {
    var limit = (columns: Self.longestSide, rows: Self.longestSide)
    var room = room
    switch kind {
    case .graphics(.kittyEdits), .graphics(.kittyImages):
      if passthrough == .tmux {
        limit = (KittyEncoder.placeholderLimit, KittyEncoder.placeholderLimit)
      }
    case .graphics(.sixel):
      room.rows = SixelEncoder.rowCount(of: room, on: screen)
      limit.columns = min(limit.columns, Self.longestSixelSide / screen.cell.width)
      let width = min(room.columns, limit.columns) * screen.cell.width
      let height = min(Self.longestSixelSide, Self.sixelArea / max(width, 1))
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
