import Foundation
import Zoetrope

/// Draws evenly spaced frames side by side:
///
///     examples contact-sheet party.gif sheet.png 12
enum ContactSheet {
  static func run(_ arguments: [String]) async throws {
    guard (2...3).contains(arguments.count),
      let count = Int(arguments.count == 3 ? arguments[2] : "12"), (1...100).contains(count)
    else { throw Usage("contact-sheet FILE OUTPUT [COUNT]") }
    let image = try await AnimatedImage.open(arguments[0])
    let rendering = Rendering(target: TargetSize(width: 160, allowsEnlarging: false))
    var cells: [Bitmap] = []
    for index in EvenFrames.indices(of: image, count: count) {
      cells.append(try await image.bitmap(at: index, rendering: rendering))
    }
    let sheet = try draw(cells)
    let png = try await PNGEncoder.encode(sheet)
    try Data(png).write(to: URL(filePath: arguments[1]), options: .atomic)
    print("\(cells.count) frames on \(sheet.size)")
  }

  /// A picture of `cells`, which have one size, in rows.
  static func draw(_ cells: [Bitmap]) throws -> Bitmap {
    let columns = Int(Double(cells.count).squareRoot().rounded(.up))
    let rows = (cells.count + columns - 1) / columns
    let (width, height) = (cells[0].width, cells[0].height)
    return try Bitmap(size: PixelSize(width: columns * width, height: rows * height)) { y, bytes in
      for column in 0..<columns {
        let index = y / height * columns + column
        guard index < cells.count else { return }  // the rest stays transparent
        let cell = cells[index]
        let pixels = cell.pixels(row: y % height)
        for x in 0..<width {
          bytes.storeBytes(of: pixels[x], toByteOffset: 4 * (column * width + x), as: RGBA.self)
        }
      }
    }
  }
}
