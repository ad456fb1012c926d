import Foundation
import Zoetrope

/// Writes the picture at a time as a PNG at most 320 pixels wide:
///
///     examples poster party.gif poster.png 1.5
enum Poster {
  static func run(_ arguments: [String]) async throws {
    guard (2...3).contains(arguments.count),
      let seconds = Double(arguments.count == 3 ? arguments[2] : "0"),
      (0...86_400).contains(seconds)
    else { throw Usage("poster FILE OUTPUT [SECONDS]") }
    let image = try await AnimatedImage.open(arguments[0])
    let bitmap = try await image.bitmap(
      at: .seconds(seconds),
      rendering: Rendering(target: TargetSize(width: 320, allowsEnlarging: false)))
    // With the colour profile and density of the file.
    let png = try await PNGEncoder.encode(bitmap, metadata: image.metadata)
    try Data(png).write(to: URL(filePath: arguments[1]), options: .atomic)
    print("\(arguments[1]): \(bitmap.size), \(png.count) bytes")
  }
}
