public import Zoetrope

/// What is known of a terminal.
///
/// Made from the environment, and refined by what the terminal answers to queries.
public struct TerminalCapabilities: Sendable, Hashable {
  /// The terminal's own name and version, from XTVERSION or the environment; empty when not known.
  public var name = ""
  /// Whether it takes UTF-8, as the locale says or, where that says no, as it showed itself.
  public var hasUTF8 = true
  /// How many colours it shows.
  public var colors = ColorDepth.indexed
  /// Whether it knows kitty's graphics protocol.
  public var hasKittyGraphics = false
  /// Whether it also knows `a=f`, edits of a frame.
  public var hasKittyEdits = false
  /// Whether it knows iTerm2's inline images.
  public var hasITerm2Images = false
  /// Whether it knows sixels.
  public var hasSixel = false
  /// How many colours a sixel image may have.
  public var sixelRegisterCount = 256
  /// Whether sixel colours stay defined from one image to the next (mode 1070 is off).
  public var keepsSixelRegisters = false
  /// Whether they would with mode 1070 switched off, as ``TerminalMode/keepsSixelRegisters`` does.
  public var canKeepSixelRegisters = false
  /// Whether it shows nothing between the marks of synchronized output (mode 2026).
  public var hasSynchronizedOutput = false
  /// Whether it reports its size in the input (mode 2048).
  public var hasInBandResize = false
  /// Whether it draws sextants itself, without a font.
  public var drawsSextants = false
  /// Whether it draws octants itself, without a font.
  public var drawsOctants = false
  /// Whether it knows kitty's keyboard protocol.
  public var hasKittyKeyboard = false
  /// Whether it answers `CSI 5 n`, and so tells how far it has read (``LinkFence``).
  public var reportsStatus = false
  /// Pixels of a cell; nil when the terminal does not say.
  public var cellSize: PixelSize?
  /// The colour behind text; nil when the terminal does not say.
  public var background: TerminalColor?
  /// The multiplexer in between.
  public var multiplexer = Passthrough.none
  /// Whether nothing but plain text should be sent (`TERM=dumb`).
  public var isDumb = false
  /// Whether the terminal is at the other end of an SSH connection.
  public var isRemote = false
  /// Whether the terminal answered the last query of the batch, so that all of the above is sure.
  public var didAnswer = false

  /// Nothing known: 256 colours and cells.
  public init() {}

  /// The best way to show pictures: the first that is known of kitty's edits, kitty's images,
  /// iTerm2's, sixels, and cells.
  ///
  /// Inside a multiplexer always cells: what the terminal knows is not what the multiplexer lets
  /// through.
  public var bestProtocol: GraphicsProtocol {
    if multiplexer != .none || isDumb { return .cells }
    if hasKittyGraphics { return hasKittyEdits ? .kittyEdits : .kittyImages }
    if hasITerm2Images { return .iterm2 }
    return hasSixel ? .sixel : .cells
  }

  /// The best characters to draw pictures with; octants are left to those who ask for them.
  public var bestGlyphs: CellGlyphs { drawsSextants ? .sextants : .fine }

  /// What transparent pixels should be laid over: the terminal's own background, in its colour where
  /// that is known.
  public var backdrop: Backdrop {
    guard let background else { return .terminal }
    return .color(red: background.red, green: background.green, blue: background.blue)
  }
}
