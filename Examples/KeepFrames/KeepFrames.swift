import SystemPackage
import Zoetrope

/// Keeps a file's frames on disk in two formats, and shows what the next process gains:
///
///     keep-frames party.gif
///     keep-frames party.gif
@main
struct KeepFrames {
  static func main() async throws {
    guard let path = CommandLine.arguments.dropFirst().first,
      let directory = FrameStore.defaultDirectory?.appending("example")
    else {
      print("usage: keep-frames FILE")
      return
    }
    let start = ContinuousClock.now
    let list = FrameFormat(
      "list", family: "party", size: PixelSize(width: 96, height: 96), fit: .fill,
      style: .bgra8Premultiplied, drawing: corners)
    let detail = FrameFormat("detail", family: "party", size: PixelSize(width: 480, height: 360))
    let store = try FrameStore(at: directory, formats: [list, detail])

    // Not scanned if a process has opened it through the store before.
    let image = try AnimatedImage(contentsOf: FilePath(path), knownTo: store)
    // Decodes what is missing, each frame once for both formats.
    let count = try await store.prefetch(of: image, family: "party")
    print("stored \(count) frames in \(ContinuousClock.now - start)")

    // Pixels in the mapped file: nothing is decoded and nothing copied.
    for format in [list, detail] {
      let begin = ContinuousClock.now
      let frame = try await image.bitmap(at: 0, rendering: format.rendering, cache: store)
      print("\(format.name): frame 0 of \(frame.size) in \(ContinuousClock.now - begin)")
    }
    for table in store.statistics.tables {
      print("\(table.name ?? "-"): \(table.frameCount) frames, \(table.byteCount) bytes on disk")
    }
  }

  /// Cuts off the corner pixels. Change the version with the code.
  static let corners = FrameDrawing("corners", version: 1) { y, size, bytes in
    for x in [0, size.width - 1] where y == 0 || y == size.height - 1 {
      bytes.storeBytes(of: 0, toByteOffset: 4 * x, as: UInt32.self)
    }
  }
}
