import Zoetrope

/// Makes a thumbnail of each file, once: later runs find them on disk.
///
///     examples thumbnails STORE FILE...
enum Thumbnails {
  static func run(_ arguments: [String]) async throws {
    guard arguments.count > 1, let directory = arguments.first else {
      throw Usage("thumbnails STORE FILE...")
    }
    // A frame is looked up in memory, then on disk; if it is in neither, it is decoded and stored.
    let store = try FrameStore(at: FilePath(directory), byteLimit: 64 << 20)
    let cache = MemoryFrameCache(backing: store)
    let rendering = Rendering(target: TargetSize(width: 128, height: 128))
    for path in arguments.dropFirst() {
      do {
        // A file that was opened before is not scanned again.
        let image = try AnimatedImage(contentsOf: FilePath(path), knownTo: store)
        let thumbnail = try await image.bitmap(at: 0, rendering: rendering, cache: cache)
        print("\(path): \(image.frames.count) frames, \(thumbnail.size)")
      } catch {
        print("\(path): \(error)")
      }
    }
    let statistics = store.statistics
    print("\(statistics.hits) from disk, \(statistics.insertions) decoded")
    // If the store cannot be used, the program is slower, but no picture is missing.
    if let error = store.lastError { print("not all are stored: \(error)") }
  }
}
