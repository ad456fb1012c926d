internal import ArgumentParser
internal import Zoetrope
package import ZoetropePlayer
internal import ZoetropeTerminal

/// The options of commands that draw in a part of the terminal, for file managers and pickers.
struct PlaceArguments: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Draw in these cells, counted from 0 at the top left, with no queries and no keys.",
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

  /// Whether any of these options was given.
  var isGiven: Bool { place != nil || id != nil || cell != nil || clear }
}

/// The options of commands that draw.
struct DrawingArguments: ParsableArguments {
  @Option(
    name: .customLong("protocol"),
    help: ArgumentHelp(
      "How frames are drawn. (default: auto)", valueName: "name",
      argumentType: ProtocolArgument.self))
  var output: ProtocolArgument?

  @Option(
    help: ArgumentHelp(
      "How many colours to use. (default: auto)", argumentType: ColorsArgument.self))
  var colors: ColorsArgument?

  @Option(
    help: ArgumentHelp(
      "How graphics pass through a multiplexer, which must allow it. (default: auto)",
      argumentType: PassthroughArgument.self))
  var passthrough: PassthroughArgument?

  @Option(
    name: .customLong("bg"),
    help: ArgumentHelp(
      "What is behind transparent pixels. (default: terminal)", argumentType: PlayerBackdrop.self))
  var backdrop: PlayerBackdrop?

  /// Whether any of these options was given.
  var isGiven: Bool { output != nil || colors != nil || passthrough != nil || backdrop != nil }

  /// What a picture at `place` is drawn with.
  func settings(at place: PlaceArguments) -> PreviewSettings {
    var settings = PreviewSettings()
    settings.mode = output?.mode
    settings.colors = colors?.depth
    settings.passthrough = passthrough?.passthrough
    settings.backdrop = backdrop ?? .terminal
    settings.place = place.place
    settings.number = place.id
    settings.cell = place.cell?.size
    return settings
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
