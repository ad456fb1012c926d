internal import ArgumentParser
internal import Zoetrope
package import ZoetropePlayer
internal import ZoetropeTerminal

/// The options of commands that draw in a part of the terminal, for file managers and pickers.
protocol PlaceArguments: ParsableCommand {
  var place: PicturePlace? { get }
  var id: Int? { get }
  var cell: CellSizeArgument? { get }
  var clear: Bool { get }
}

extension PlaceArguments {
  func checkPlace() throws {
    if let id, !PreviewSettings.numbers.contains(id) {
      throw ValidationError("--id must be a number from 1 to \(PreviewSettings.numbers.upperBound)")
    }
    if id != nil, place == nil, !clear { throw ValidationError("--id wants --place or --clear") }
  }

  /// Whether any of these options was given.
  var hasPlace: Bool { place != nil || id != nil || cell != nil || clear }

  /// Adds these options to settings.
  func applyPlace(to settings: inout PreviewSettings) {
    settings.place = place
    settings.number = id
    settings.cell = cell?.size
  }
}

extension ArgumentHelp {
  static var place: Self {
    Self(
      "Draw in these cells, counted from 0 at the top left, with no queries and no keys.",
      valueName: "COLSxROWS@X,Y")
  }
  static var id: Self {
    Self(
      "The picture's number, 1 to 8388607, by which --clear finds it (default: random).",
      valueName: "number")
  }
  static var cell: Self {
    Self(
      "The size of a cell in pixels, where the terminal does not report it.", valueName: "WxH")
  }
  static var clear: Self { "Remove what was drawn with the same --place, --id and --protocol." }
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
