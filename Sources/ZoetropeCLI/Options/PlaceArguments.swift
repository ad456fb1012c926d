internal import ArgumentParser
internal import Zoetrope
package import ZoetropePlayer
internal import ZoetropeTerminal

/// The options of commands that draw in a part of the terminal, for file managers and pickers.
struct PlaceArguments: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      """
      Draw in these cells, counted from 0 at the top left, with no queries and no keys.
      """,
      valueName: "COLSxROWS@X,Y"))
  var place: PicturePlace?

  @Option(
    help: ArgumentHelp(
      "The picture's number, 1 to 8388607, by which --clear finds it (default: random).",
      valueName: "number"))
  var id: Int?

  @Option(
    help: ArgumentHelp(
      "The size of a cell in pixels, where the terminal does not report it.", valueName: "WxH"))
  var cell: CellSizeArgument?

  @Flag(help: "Remove what was drawn with the same --place, --id and --protocol.")
  var clear = false

  func validate() throws {
    if let id, !PreviewSettings.numbers.contains(id) {
      throw ValidationError("--id must be a number from 1 to \(PreviewSettings.numbers.upperBound)")
    }
    if id != nil, place == nil, !clear { throw ValidationError("--id wants --place or --clear") }
  }

  /// Whether any option was given.
  var isUsed: Bool { place != nil || id != nil || cell != nil || clear }

  /// Adds these options to settings.
  func apply(to settings: inout PreviewSettings) {
    settings.place = place
    settings.number = id
    settings.cell = cell?.size
  }
}

/// The words of `--place`.
extension PicturePlace: ExpressibleByArgument {
  package init?(argument: String) { self.init(argument) }
}

/// The words of `--cell`: a size in pixels such as 10x20.
struct CellSizeArgument: ExpressibleByArgument, Hashable {
  let size: PixelSize

  init?(argument: String) {
    let sides = argument.split(separator: "x", omittingEmptySubsequences: false).map { Int($0) }
    guard sides.count == 2, let width = sides[0], let height = sides[1],
      (1...256).contains(width), (1...256).contains(height)
    else { return nil }
    size = PixelSize(width: width, height: height)
  }
}

/// How `still` draws in the terminal.
struct DrawingArguments: ParsableArguments {
  @Option(
    name: .customLong("protocol"),
    help: ArgumentHelp("How a picture is drawn; auto picks the best.", valueName: "name"))
  var output: ProtocolArgument?

  @Option(help: "How many colours to draw with.")
  var colors: ColorsArgument?

  @Option(help: "How graphics pass through a multiplexer, which must allow it.")
  var passthrough: PassthroughArgument?

  @Option(
    name: .customLong("bg"),
    help: "What is behind transparent pixels.")
  var backdrop: PlayerBackdrop?

  func validate() throws {
    // `--protocol none` plays without drawing; a picture that is not drawn is nothing.
    if output == ProtocolArgument.none {
      throw ValidationError("--protocol none is for play; -o writes files")
    }
  }

  /// Whether any option was given.
  var isUsed: Bool {
    output != nil || colors != nil || passthrough != nil || backdrop != nil
  }

  var settings: PreviewSettings {
    var settings = PreviewSettings()
    if case .mode(let mode)? = output { settings.mode = mode }
    settings.colors = colors?.depth
    settings.passthrough = passthrough?.passthrough
    settings.backdrop = backdrop ?? .terminal
    // Never larger than it is, as other programs' previews have it.
    settings.fit = .shrink
    return settings
  }
}
