internal import ArgumentParser
internal import Zoetrope
package import ZoetropePlayer
internal import ZoetropeTerminal

/// The options of commands that draw in a part of the terminal, for file managers and pickers.
struct PlaceArguments: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Draw only in these cells, counted from 0 at the top left.",
      valueName: "COLSxROWS@X,Y"))
  var place: PicturePlace?

  @Option(
    help: ArgumentHelp(
      "The picture's number for --clear, 1 to 8388607. (default: random)",
      valueName: "number"))
  var id: Int?

  @Option(
    help: ArgumentHelp(
      "The cell size in pixels, if the terminal does not report it.", valueName: "WxH"))
  var cell: CellSizeArgument?

  @Flag(help: "Remove the picture drawn with this --place, --id and --protocol.")
  var clear = false

  func validate() throws {
    if let id, !PreviewSettings.numbers.contains(id) {
      throw ValidationError("--id must be a number from 1 to \(PreviewSettings.numbers.upperBound)")
    }
    if id != nil, place == nil, !clear { throw ValidationError("--id requires --place or --clear") }
  }

  /// Whether any of these options was given.
  var isGiven: Bool { place != nil || id != nil || cell != nil || clear }
}

/// The options of commands that draw in the terminal.
struct DrawingArguments: ParsableArguments {
  @Option(
    name: .customLong("protocol"),
    help: ArgumentHelp(
      "How to draw frames. (default: auto)", valueName: "name",
      argumentType: ProtocolArgument.self))
  var output: ProtocolArgument?

  @Option(
    help: ArgumentHelp(
      "How many colours to use. (default: auto)", argumentType: ColorsArgument.self))
  var colors: ColorsArgument?

  @Option(
    help: ArgumentHelp(
      "How to send graphics through a multiplexer. (default: auto)",
      argumentType: PassthroughArgument.self))
  var passthrough: PassthroughArgument?

  @Option(
    name: .customLong("bg"),
    help: ArgumentHelp(
      "The background of transparent pixels. (default: terminal)",
      argumentType: PlayerBackdrop.self))
  var backdrop: PlayerBackdrop?

  /// Whether any of these options was given.
  var isGiven: Bool { output != nil || colors != nil || passthrough != nil || backdrop != nil }

  /// Returns the settings for a preview at `place`.
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

/// A value of `--place`.
extension PicturePlace: ExpressibleByArgument {
  package init?(argument: String) { self.init(argument) }
}

/// A value of `--cell`: the size of a terminal cell in pixels, such as `10x20`.
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
