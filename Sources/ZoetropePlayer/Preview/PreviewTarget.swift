import Glibc
import SystemPackage
import Zoetrope
import ZoetropeProcess
import ZoetropeTerminal

/// The terminal of a preview, as far as it is known without a query, and the way in which pictures are drawn there.
///
/// A preview shares its terminal with another program. That program reads the input, and would mistake the answer to a
/// query for typed keys.
struct PreviewTarget {
  let capabilities: TerminalCapabilities
  let mode: DrawingMode
  let passthrough: Passthrough
  let screen: ScreenSize
  /// The cells that pictures may use.
  let room: CellRect
  /// Whether the position of ``room`` is relative to the cursor instead of the top left of the screen.
  let isAtCursor: Bool
  /// The first of the two ids that kitty images use.
  let imageID: Int
  private let settings: PreviewSettings

  /// The maximum number of pixels in a place. It is about twice the number of pixels of an 8K screen; encoders take a
  /// few bytes for each pixel.
  private static let pixelLimit = 1 << 26

  /// Creates a target.
  ///
  /// - Parameters:
  ///   - isTerminal: Whether output goes to a terminal. The place must then fit on the terminal's screen.
  ///   - probed: The capabilities that the terminal reported, or nil if it was not queried.
  ///   - environment: The environment variables that describe the terminal.
  ///   - size: The size of the terminal as the kernel reports it, or nil if the size is unknown.
  ///   - imageID: The first of the two ids that kitty images use, or nil to compute it from the settings.
  /// - Throws: A usage failure if pictures cannot be drawn at the place.
  init(
    _ settings: PreviewSettings, isTerminal: Bool, probed: TerminalCapabilities? = nil,
    environment: TerminalEnvironment = .current, size: ScreenSize? = .ofTerminal,
    imageID: Int? = nil
  ) throws(CommandFailure) {
    self.settings = settings
    var capabilities = probed ?? TerminalCapabilities(unasked: environment)
    if let colors = settings.colors { capabilities.colors = colors }
    self.capabilities = capabilities
    mode = settings.mode?.confirmed(by: capabilities) ?? DrawingMode(best: capabilities)
    passthrough = mode.passthrough(settings.passthrough, on: capabilities)
    isAtCursor = settings.place?.hasPosition != true
    self.imageID =
      imageID
      ?? (settings.number ?? Int.random(in: 0x8000...PreviewSettings.numbers.upperBound)) * 2
    let cell =
      settings.cell ?? probed?.cellSize ?? size.flatMap { $0.isCellKnown ? $0.cell : nil }
    var room: CellRect
    if let place = settings.place {
      room = place.cells
    } else {
      let whole = size ?? ScreenSize(columns: 80, rows: 24)
      room = CellRect(column: 0, row: 0, columns: whole.columns, rows: max(whole.rows - 1, 1))
    }
    if isTerminal, let whole = size {
      screen = ScreenSize(columns: whole.columns, rows: whole.rows, cell: cell)
      room.columns = min(room.columns, whole.columns - room.column)
      // The line below a picture at the cursor stays free for the output that follows.
      room.rows = min(room.rows, whole.rows - room.row - (isAtCursor && whole.rows > 1 ? 1 : 0))
      guard !room.isEmpty else {
        throw .usage(
          "the place starts outside the terminal, which has \(whole.columns) columns and "
            + "\(whole.rows) rows; X and Y count from 0")
      }
    } else {
      // The bytes may be sent to any terminal, so the size of its screen is unknown. One more row is added, because
      // sixels need a row below them.
      screen = ScreenSize(
        columns: room.column + room.columns, rows: room.row + room.rows + 1, cell: cell)
    }
    room.columns = min(room.columns, FrameLayout.longestSide)
    room.rows = min(room.rows, FrameLayout.longestSide)
    guard room.columns * screen.cell.width * room.rows * screen.cell.height <= Self.pixelLimit
    else { throw .usage("the place has more than \(Self.pixelLimit) pixels") }
    self.room = mode.usable(room, on: screen, passthrough: passthrough, isCentered: false)
    if isAtCursor, passthrough != .none, !isKitty {
      throw .usage(
        "inside \(passthrough.rawValue), \(mode.name) pictures need a position: "
          + "--place COLSxROWS@X,Y")
    }
  }

  var isKitty: Bool { mode == .graphics(.kittyEdits) || mode == .graphics(.kittyImages) }

  /// Returns the layout of a picture of `size`, which is placed at the top left of the room.
  func layout(of size: PixelSize) -> FrameLayout {
    FrameLayout(of: size, in: room, screen: screen, fit: settings.fit, isCentered: false)
  }

  /// Returns an encoder for pictures of `size`.
  func encoder(for size: PixelSize) -> any FrameEncoding {
    var options = settings.isExact ? EncodingOptions.exact : EncodingOptions()
    options.backdrop = settings.backdrop.backdrop ?? capabilities.backdrop
    options.keepsTransparency = settings.backdrop == .terminal
    return mode.encoder(
      layout: layout(of: size), screen: screen, pictureSize: size, capabilities: capabilities,
      imageID: imageID, passthrough: passthrough, options: options)
  }

  // MARK: - Removing

  /// The bytes that end an incomplete escape sequence of this program.
  var abort: [UInt8] {
    TerminalMode(usesKittyGraphics: isKitty, passthrough: passthrough).abort
  }

  /// Returns the bytes that remove a picture from `area`. Images of the kitty protocol are removed by their ids, and
  /// any other picture by erasing its cells.
  func removal(from area: CellRect) -> [UInt8] {
    var bytes: [UInt8] = []
    if isKitty {
      for id in [imageID, imageID + 1] { passthrough.appendDeletion(ofImage: id, to: &bytes) }
      // Inside tmux, placeholder characters mark the place of the image, and must be erased too.
      if passthrough != .tmux { return bytes }
    }
    let erasure = Self.erasure(of: area)
    // Graphics that were passed through the multiplexer are on the screen of the outer terminal.
    if passthrough != .none, !isKitty { passthrough.append(erasure, to: &bytes) }
    return bytes + erasure
  }

  private static func erasure(of area: CellRect) -> [UInt8] {
    var text = "\u{1B}7\u{1B}[m"
    for row in area.row..<area.row + max(area.rows, 0) {
      text += "\u{1B}[\(row + 1);\(area.column + 1)H\u{1B}[\(area.columns)X"
    }
    return Array((text + "\u{1B}8").utf8)
  }
}

extension TerminalCapabilities {
  /// Creates the capabilities of a terminal that is not queried, from environment variables.
  ///
  /// The graphics that the terminal supports are derived from `TERM` alone, whereas the player queries the terminal.
  /// Other variables prove nothing, because a shell may have inherited them from another terminal.
  init(unasked environment: TerminalEnvironment) {
    self.init(environment: environment)
    switch environment["TERM"] {
    case "xterm-kitty": (hasKittyGraphics, hasKittyEdits) = (true, true)
    case "xterm-ghostty": hasKittyGraphics = true
    case let term? where term == "foot" || term.hasPrefix("foot-"): hasSixel = true
    default: break
    }
  }
}
