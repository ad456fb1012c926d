import Zoetrope

/// Thumbnails of uploaded files, within limits on memory and time for each file and in total:
///
///     examples chat-thumbnails upload.gif other.png
struct ChatThumbnails {
  private let loader: FrameLoader

  struct TookTooLong: Error {}

  init() {
    var limits = DecodingLimits.strict
    limits.liveBytes = 64 << 20
    limits.pixelsPerPlay = 1 << 28
    // Frames, canvases and compressed bytes that are kept; work in progress is not included.
    let budget = MemoryBudget(byteLimit: 64 << 20)
    loader = FrameLoader(
      cache: MemoryFrameCache(budget: budget), budget: budget, maxConcurrentLoads: 2,
      decoding: DecodingOptions(limits: limits))
  }

  /// A PNG of the first frame, at most 128 pixels wide and high. Throws after two seconds. The file may have any size,
  /// because it is read in pieces.
  func thumbnail(ofFileAt path: String) async throws -> [UInt8] {
    try await withThrowingTaskGroup(of: [UInt8].self) { group in
      group.addTask {
        let box = TargetSize(width: 128, height: 128, allowsEnlarging: false)
        let rendering = Rendering(target: box, filter: .lanczos3)
        let bitmap = try await loader.bitmap(forFileAt: path, rendering: rendering)
        return try await PNGEncoder.encode(bitmap)
      }
      group.addTask {
        try await Task.sleep(for: .seconds(2))
        throw TookTooLong()
      }
      // Cancelling the loser ends its decoding within a frame.
      defer { group.cancelAll() }
      return try await group.next() ?? []
    }
  }

  static func run(_ arguments: [String]) async throws {
    guard !arguments.isEmpty else { throw Usage("chat-thumbnails FILE...") }
    let bot = ChatThumbnails()
    await withTaskGroup(of: String.self) { group in
      for (number, path) in arguments.enumerated() {
        // A few at a time: waiting uploads would hold memory and use up their two seconds.
        if number >= 4, let answer = await group.next() { print(answer) }
        group.addTask {
          do {
            let png = try await bot.thumbnail(ofFileAt: path)
            return "\(path): \(png.count) bytes"
          } catch { return "\(path): \(error)" }
        }
      }
      for await answer in group { print(answer) }
    }
  }
}
